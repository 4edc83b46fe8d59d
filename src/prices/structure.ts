/** The deepest nesting of a message. The deepest field of an update has depth 6, and `metadata` has a separate limit. */
export const DEPTH_MAX = 64;

/** The length of the longest message that the service parses without this check, because a parser reads a short text quickly. */
const SHORT_LENGTH_MAX = 16 * 1024;
/** The limits for each update. An update has 4 objects and 13 commas; the rest is for `metadata`. */
const CONTAINERS_PER_UPDATE_MAX = 8;
const COMMAS_PER_UPDATE_MAX = 18;
/** The limits for the parser that keeps every digit. This parser takes up to 2 µs for a value and 0.1 µs for a character. */
const EXACT_LENGTH_MAX = 128 * 1024;
const EXACT_COMMAS_MAX = 4_000;

/**
 * Returns the reason why the JSON of a publish message is too expensive to parse; `undefined` for a cheap text. `JSON.parse`
 * takes a second for half a million nested arrays, and 1 µs for each key of half a million different keys. This check does not
 * parse the text.
 * @param updatesMax the largest number of updates in a message
 */
export function excessOf(text: string, updatesMax: number): string | undefined {
  if (text.length <= SHORT_LENGTH_MAX) return undefined;
  const containersMax = CONTAINERS_PER_UPDATE_MAX * updatesMax;
  const containers = countUpTo(text, '{', containersMax) + countUpTo(text, '[', containersMax);
  if (containers > containersMax) return `the message holds more than ${containersMax} objects and arrays`;
  const commasMax = COMMAS_PER_UPDATE_MAX * updatesMax;
  return countUpTo(text, ',', commasMax) > commasMax
    ? `the message holds more than ${commasMax} commas`
    : undefined;
}

/** Returns the reason why a message is too expensive for the parser that keeps every digit; `undefined` for a cheap message. */
export function exactExcessOf(text: string): string | undefined {
  return text.length > EXACT_LENGTH_MAX || countUpTo(text, ',', EXACT_COMMAS_MAX) > EXACT_COMMAS_MAX
    ? `a message with numbers in metadata, or whose keys are hard to tell from its strings, is at most ` +
        `${EXACT_LENGTH_MAX} characters and ${EXACT_COMMAS_MAX} commas`
    : undefined;
}

/**
 * Returns whether an object may contain a key twice. `JSON.parse` silently keeps the last value, so its result has fewer keys
 * than the text has colons. Counting keys and colons costs 0.4 µs for each update. The count includes colons in strings, so after
 * `true` the caller must check more exactly.
 * @param keys the number of keys in the parsed value, from {@link countKeys}
 */
export function mayRepeatKeys(text: string, keys: number): boolean {
  return countUpTo(text, ':', keys) !== keys && countKeyEnds(text, keys) !== keys;
}

/**
 * Returns whether a key of a JSON text contains an escape. `JSON.parse` of Node 24 and 26 may read such a key as the key of an
 * earlier text: after the key `\\`, it also reads the key `\"` as `\\` (https://github.com/nodejs/node/issues/63785).
 */
export function hasEscapedKey(text: string): boolean {
  const colon = /\s*:/y;
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at)) {
    // An escape is inside a string. The loop moves to the end of that string.
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    colon.lastIndex = at + 1;
    if (colon.test(text)) return true;
  }
  return false;
}

function countKeyEnds(text: string, max: number): number {
  // Matches the end of a key. In a string, the pattern also matches an escaped quotation mark before a colon, which is rare.
  const keyEnd = /"\s*:/g;
  let count = 0;
  while (count <= max && keyEnd.test(text)) count++;
  return count;
}

/** Counts the keys of all objects in a parsed JSON value; `undefined` when the value nests deeper than {@link DEPTH_MAX}. */
export function countKeys(value: unknown, depthLeft = DEPTH_MAX): number | undefined {
  if (typeof value !== 'object' || value === null) return 0;
  if (depthLeft === 0) return undefined;
  const isArray = Array.isArray(value);
  let keys = 0;
  for (const key in value) {
    const inner = (value as Record<string, unknown>)[key];
    if (!isArray) keys++;
    if (typeof inner !== 'object' || inner === null) continue;
    const inside = countKeys(inner, depthLeft - 1);
    if (inside === undefined) return undefined;
    keys += inside;
  }
  return keys;
}

/** Counts a character, but at most up to `max` + 1. */
function countUpTo(text: string, character: string, max: number): number {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0 && count <= max; at = text.indexOf(character, at + 1))
    count++;
  return count;
}
