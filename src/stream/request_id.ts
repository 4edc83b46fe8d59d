import { hasAtMost } from '../model/text.js';
import { REQUEST_ID_LENGTH_MAX } from '../wire/stream.js';

/**
 * The `id` of a request as JSON text. A number keeps its received text, because a double loses digits after the 17th, and turns `1.0` into
 * `1`.
 */
export type RequestId = string;

/**
 * Returns the ID of a request.
 * @param id the parsed value
 * @param message the JSON object that contains the value
 * @returns `undefined` when the value is not a number or a string of at most {@link REQUEST_ID_LENGTH_MAX} characters
 */
export function readRequestId(id: unknown, message: string): RequestId | undefined {
  if (typeof id === 'string') return hasAtMost(REQUEST_ID_LENGTH_MAX, id) ? JSON.stringify(id) : undefined;
  if (typeof id !== 'number') return undefined;
  NUMBER.lastIndex = endOfKey(message);
  const [, text] = NUMBER.exec(message)!;
  return text!.length <= REQUEST_ID_LENGTH_MAX ? text : undefined;
}

const NUMBER = /\s*([-+.\deE]+)/y;

/** Returns the offset after the key `id` and its colon. */
function endOfKey(message: string): number {
  const first = message.indexOf('"id"');
  // If the message has no escapes and contains `"id"` only once, this text is the key. This holds for nearly every request.
  return first === message.lastIndexOf('"id"') && !message.includes('\\')
    ? message.indexOf(':', first) + 1
    : searchEndOfKey(message);
}

/** A string, with its colon if it is a key; or a bracket or brace, which changes the depth. */
const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[[\]{}]/g;

/** Finds the key in any text. If the key occurs several times, the last occurrence counts, as in `JSON.parse`. */
function searchEndOfKey(message: string): number {
  let end = 0;
  let depth = 0;
  for (const { 0: token, 1: text, 2: colon, index } of message.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (depth === 1 && colon && JSON.parse(text!) === 'id') end = index + token.length;
  }
  return end;
}
