// The form in which a text of somebody else reaches a terminal, a pipe, a log or a language model.

/** The greatest number of characters of somebody else's text in one message. */
export const FOREIGN_CHARACTERS_MAX = 200;

/**
 * Characters that move a cursor, end a line, turn the direction of text, or are not visible: control characters, format characters
 * such as U+202E, unassigned characters, and separators of lines.
 */
const UNSEEN = /[\p{C}\u2028\u2029]/gu;

/** A text that needs no quotes: a single word, such as `BTC/USD` or an address. */
const PLAIN = /^[^\s\p{C}\p{Z}"\\]+$/u;

/** Returns a text as one line, with an escape such as `\u001b` in place of each character that is not visible. */
export function visibleText(text: string, charactersMax = Number.POSITIVE_INFINITY): string {
  return cutText(text, charactersMax).replace(UNSEEN, escapeOf);
}

/** Returns a text of somebody else for a message: at most {@link FOREIGN_CHARACTERS_MAX} characters, in quotes unless it is a single word. */
export function foreignText(text: string): string {
  const kept = cutText(text, FOREIGN_CHARACTERS_MAX);
  return PLAIN.test(kept) ? kept : visibleText(JSON.stringify(kept));
}

/** Returns an error of a service for a message, with the remark that these are the service's words. */
export function serviceWords(text: string): string {
  return `the service says ${visibleText(JSON.stringify(cutText(text, FOREIGN_CHARACTERS_MAX)))}`;
}

/** Returns a JSON text as one line with the same value, in which the characters that are not visible are escaped. */
export function visibleJson(text: string): string {
  // A JSON text has line ends and tabs only between its tokens.
  return text.replace(UNSEEN, (character) => (/[\t\r\n]/.test(character) ? ' ' : escapeOf(character)));
}

function cutText(text: string, charactersMax: number): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}

function escapeOf(character: string): string {
  return [...Array(character.length).keys()]
    .map((i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`)
    .join('');
}
