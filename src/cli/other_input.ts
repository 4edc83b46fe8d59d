import { parseExactJson } from '../client/verify/exact_json.js';
import { foreignText } from '../wire/foreign_text.js';

/** Returns the error if the text is a service's refusal of a request. */
export function refusalIn(text: string): string | undefined {
  const value = parseExactJson(text) as { error?: unknown } | null | undefined;
  return typeof value?.error === 'string' ? value.error : undefined;
}

/**
 * Describes a text that holds no signed price, such as a saved error, as the end of a sentence. Returns `undefined` for a text that the
 * checks can judge.
 */
export function otherInput(text: string): string | undefined {
  const refusal = refusalIn(text);
  if (refusal !== undefined) return `is an error that a service answered: ${foreignText(refusal)}`;
  const value = parseExactJson(text) as { data?: unknown } | null | undefined;
  if (isEmptyAnswer(value?.data)) return 'has no price: none of the assets had one when the service answered';
  if (value !== undefined || areJsonLines(text)) return undefined;
  if (text.startsWith('<'))
    return 'is a web page, and not the answer of a path such as /v1/prices/latest?assets=BTCUSD';
  if (/^HTTP\/\d/.test(text))
    return 'begins with the headers of HTTP: save the answer without them (curl without -i)';
  if (/^(?:event|id|data|retry)?:/.test(text))
    return 'is a stream of events: a check takes the text after "data:" of one event';
  if (/^[[{]/.test(text))
    return 'is not whole: it begins as JSON, and a part of it is missing or changed; save the answer again';
  return 'is neither JSON nor a payload in hex';
}

/** Returns whether a text is the lines of a range, each a whole JSON value. */
function areJsonLines(text: string): boolean {
  return text.split('\n').every((line) => line.trim() === '' || parseExactJson(line) !== undefined);
}

function isEmptyAnswer(data: unknown): boolean {
  return typeof data === 'object' && data !== null && Object.keys(data).length === 0;
}
