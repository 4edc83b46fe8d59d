import type { Command } from 'commander';
import { foreignText, visibleJson, visibleText } from '../wire/foreign_text.js';

// The only module of the commands that writes to a terminal or a pipe. A text reaches it as a Shown line or as JSON, so that no text of a
// service can move a cursor, begin another line or pass for words of the command.

/** The greatest number of characters of an error's message. Its foreign parts are bounded by their own limit. */
const ERROR_CHARACTERS_MAX = 2_000;

/** A line for people. Only {@link shown}, {@link ownText} and {@link errorText} make lines. */
class ShownLine {
  constructor(readonly text: string) {}
}

export type Shown = ShownLine;

/**
 * Makes a line. Each text in it that is not a line itself counts as somebody else's: at most 200 characters, in quotes unless it is a
 * single word.
 */
export function shown(
  words: TemplateStringsArray,
  ...values: readonly (Shown | string | number | bigint)[]
): Shown {
  const texts = values.map((value) =>
    value instanceof ShownLine ? value.text : typeof value === 'string' ? foreignText(value) : String(value),
  );
  return new ShownLine(words.map((word, i) => word + (texts[i] ?? '')).join(''));
}

/** Makes lines of the program's own words, which may contain names from the operator's own files. */
export function ownText(text: string): Shown {
  return new ShownLine(
    text
      .split('\n')
      .map((line) => visibleText(line))
      .join('\n'),
  );
}

/** Makes a line of an error's message. A message of the client quotes the words of a service itself. */
export function errorText(error: unknown): Shown {
  return reasonText(error instanceof Error ? error.message : String(error));
}

/** Makes a line of a reason that the client or a part of the service gives, like the message of an error. */
export function reasonText(reason: string): Shown {
  return new ShownLine(visibleText(reason, ERROR_CHARACTERS_MAX));
}

/** Makes a line of a JSON text, with the same value. */
export function jsonText(text: string): Shown {
  return new ShownLine(visibleJson(text));
}

/** Joins lines. */
export function joined(lines: readonly Shown[], separator: string): Shown {
  return new ShownLine(lines.map(({ text }) => text).join(separator));
}

/** A stream of the process, or a function of commander that writes to it. */
interface TextStream {
  write(text: string): unknown;
}

/** Writes a line to standard error or to another stream whose end is no concern. */
export function writeLine(stream: TextStream, line: Shown): void {
  stream.write(`${line.text}\n`);
}

/** The control characters that clear a terminal and move its cursor to the top. */
const CLEAR_SCREEN = '\x1b[H\x1b[2J';

/** Clears a terminal, and shows a table of the program's own numbers and colours, with lines below it that are cut to the width. */
export function tellScreen(
  stream: TextStream,
  table: string,
  lines: readonly Shown[],
  columns: number,
): void {
  const below = lines.map(
    ({ text }) => `\n${text.length > columns ? `${text.slice(0, columns - 1)}…` : text}`,
  );
  stream.write(`${CLEAR_SCREEN}${table}\n${below.join('')}${below.length > 0 ? '\n' : ''}`);
}

/** Returns the streams of a command that writes with commander. */
export function outputOf(command: Command): { readonly out: TextStream; readonly err: TextStream } {
  const { writeOut, writeErr } = command.configureOutput();
  return { out: { write: (text) => writeOut?.(text) }, err: { write: (text) => writeErr?.(text) } };
}

/** Writes lines until the reader closes the stream. This is not an error: `tickseal subscribe … | head` ends without a message. */
export class LineWriter {
  readonly #stream: NodeJS.WritableStream;
  readonly #onClosed: () => void;
  #isClosed = false;

  constructor(stream: NodeJS.WritableStream, onClosed: () => void) {
    this.#stream = stream;
    this.#onClosed = onClosed;
    stream.on('error', this.#onError);
  }

  /** True after the reader has closed. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Writes a line. Returns `false` when the stream's buffer is full; a `drain` event then follows. */
  write(line: Shown): boolean {
    return this.#isClosed || this.#stream.write(`${line.text}\n`);
  }

  /** Writes a line of JSON for programs, with the same value and all its digits. Returns like {@link write}. */
  json(text: string): boolean {
    return this.write(jsonText(text));
  }

  readonly #onError = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    this.#isClosed = true;
    this.#onClosed();
  };
}
