// The only way from a foreign text to its JSON. The text is bounded before it is parsed, because parsing costs most for values that
// are nested or tiny.

/** The largest depth of lists and objects. An answer has six levels around the metadata of an input, and metadata has up to 16. */
const JSON_DEPTH_MAX = 32;
/** The largest number of values: 65,535 assets with nine values. */
const JSON_VALUES_MAX = 600_000;

const QUOTE = 34;
const COMMA = 44;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** Returns the reason why a text may not be parsed; `undefined` for an acceptable text, which need not be JSON. */
export function foreignJsonFault(text: string, valuesMax = JSON_VALUES_MAX): string | undefined {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      // The parser reports a string without an end.
      if (at < 0) return undefined;
    } else if (code === COMMA) values += 1;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      values += 1;
      depth += 1;
      if (depth > JSON_DEPTH_MAX) return `the JSON has more than ${JSON_DEPTH_MAX} levels`;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
    if (values > valuesMax) return `the JSON has more than ${valuesMax} values`;
  }
  return undefined;
}

/** Parses a foreign JSON text. @throws Error that names the reason */
export function parseForeignJson(text: string): unknown {
  const fault = foreignJsonFault(text);
  if (fault !== undefined) throw new Error(fault);
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the text is not JSON');
  }
}

/** Returns the place of the quote that ends a string; -1 without an end. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}
