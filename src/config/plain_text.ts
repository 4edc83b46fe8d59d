import type { Path, Place, YamlData } from './yaml_data.js';

/**
 * Reads the YAML that most configuration files consist of: mappings, sequences, plain words and numbers, texts in quotes without
 * escapes, comments, and JSON without escapes. For 1,000 assets the YAML library takes 20 times as long, which was a quarter of a start.
 * @returns `undefined` for every other text. Only the library decides about such a text and its errors
 */
export function readPlainText(text: string): YamlData | undefined {
  if (!isOrdinary(text)) return undefined;
  const reader = new PlainReader(text);
  try {
    const { value, offset } = reader.readAll();
    return { value, problems: [], locate: (path) => locate(path, value, offset, reader.offsets) };
  } catch (error) {
    if (error instanceof NotPlain) return undefined;
    throw error;
  }
}

/** The offsets of the keys of a mapping, or of the items of a sequence. */
type Offsets = Map<string | number, number>;
type Container = Record<string, unknown> | unknown[];

class NotPlain extends Error {}

/** The deepest level. A deeper text could exceed the stack. */
const DEPTH_MAX = 50;
/** The longest key. YAML allows 1,024 characters. */
const KEY_LENGTH_MAX = 1_000;

/** Returns whether the text has only characters that YAML keeps as they are. Tabs and carriage returns are not among them. */
function isOrdinary(text: string): boolean {
  return !/[^\n\x20-\x7e\xa0-\u2027\u2030-\ud7ff\ue000-\ufdef\ufdf0-\ufefe\uff00-\uffef]/.test(text);
}

/** A word. Spaces and colons inside are allowed, if a letter or digit follows. A flow collection ends a word earlier than a line does. */
const WORD = /(?:[A-Za-z0-9_/.]|-(?=\d))(?:[\w/.+-]|:(?=[\w/.+-])| (?=[\w/.]))*/y;
const KEY = /[A-Za-z_][\w.-]*/y;
const QUOTED = /"([^"\\\n]*)"|'([^'\n]*)'(?!')/y;
const SPACES = / */y;
const END_OF_LINE = /(?: +#[^\n]*| *)(?:\n|$)/y;
const EMPTY_LINES = /(?: *(?:#[^\n]*)?\n)*(?: *#[^\n]*$)?/y;
const FLOW_SPACE = /[ \n]*/y;
const CONSTANTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ...['null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
]);

class PlainReader {
  readonly offsets = new Map<object, Offsets>();
  #at = 0;
  #depth = 0;

  constructor(readonly text: string) {}

  readAll(): { value: unknown; offset: number } {
    this.#skip(EMPTY_LINES);
    const offset = this.#at;
    const isFlow = this.#isNext('{') || this.#isNext('[');
    const value = isFlow ? this.#readFlow(true) : this.#readBlock(0);
    if (isFlow) this.#endLine();
    this.#skip(EMPTY_LINES);
    this.#skip(SPACES);
    if (this.#at < this.text.length) throw new NotPlain();
    return { value, offset };
  }

  /** Reads a mapping or a sequence of lines with this indentation. The position is the first character of the first line's content. */
  #readBlock(indent: number): Container {
    if (++this.#depth > DEPTH_MAX) throw new NotPlain();
    const isSequence = this.#isNext('- ');
    const container: Container = isSequence ? [] : {};
    const offsets: Offsets = new Map();
    this.offsets.set(container, offsets);
    do {
      if (isSequence) this.#readItem(container as unknown[], offsets, indent);
      else this.#readEntry(container as Record<string, unknown>, offsets, indent);
    } while (
      this.#indentOfNext() === indent &&
      this.#isNext('- ', indent) === isSequence &&
      this.#goTo(indent)
    );
    // A line that is indented further continues a text, which is not plain.
    if (this.#indentOfNext() > indent) throw new NotPlain();
    this.#depth--;
    return container;
  }

  #readItem(items: unknown[], offsets: Offsets, indent: number): void {
    this.#at++;
    const spaces = this.#skip(SPACES);
    offsets.set(items.length, this.#at);
    const isMapping = this.#startsEntry();
    items.push(isMapping ? this.#readBlock(indent + 1 + spaces) : this.#readInline());
  }

  #readEntry(record: Record<string, unknown>, offsets: Offsets, indent: number): void {
    const offset = this.#at;
    const key = this.#readKey(record);
    offsets.set(key, offset);
    if (!this.#take(':')) throw new NotPlain();
    if (this.#match(END_OF_LINE) === undefined) {
      if (!this.#take(' ')) throw new NotPlain();
      this.#skip(SPACES);
      record[key] = this.#readInline();
      return;
    }
    const next = this.#indentOfNext();
    const isNested = next > indent || (next === indent && this.#isNext('- ', indent));
    record[key] = isNested && this.#goTo(next) ? this.#readBlock(next) : null;
  }

  /** Reads a value that ends with its line. */
  #readInline(): unknown {
    const isFlow = this.#isNext('{') || this.#isNext('[');
    const value = isFlow ? this.#readFlow(false) : (this.#readQuoted() ?? this.#readWord(WORD));
    this.#endLine();
    return value;
  }

  /** Reads `[…]` or `{…}`. @param severalLines true if the collection may continue on further lines */
  #readFlow(severalLines: boolean): unknown {
    if (!this.#isNext('{') && !this.#isNext('[')) return this.#readQuoted() ?? this.#readWord(WORD);
    if (++this.#depth > DEPTH_MAX) throw new NotPlain();
    const isSequence = this.#take('[');
    if (!isSequence) this.#at++;
    const container: Container = isSequence ? [] : {};
    const offsets: Offsets = new Map();
    this.offsets.set(container, offsets);
    const close = isSequence ? ']' : '}';
    const space = severalLines ? FLOW_SPACE : SPACES;
    this.#skip(space);
    while (!this.#take(close)) {
      const offset = this.#at;
      if (isSequence) {
        offsets.set((container as unknown[]).length, offset);
        (container as unknown[]).push(this.#readFlow(severalLines));
      } else {
        const isQuoted = this.#isNext('"') || this.#isNext("'");
        const key = this.#readKey(container as Record<string, unknown>);
        offsets.set(key, offset);
        // Only after quotes may the value follow the colon immediately.
        if (!this.#take(':') || (this.#skip(space) === 0 && !isQuoted)) throw new NotPlain();
        (container as Record<string, unknown>)[key] = this.#readFlow(severalLines);
      }
      this.#skip(space);
      if (this.#take(',')) {
        this.#skip(space);
        if (this.#isNext(close)) throw new NotPlain();
      } else if (!this.#isNext(close)) throw new NotPlain();
    }
    this.#depth--;
    return container;
  }

  #readKey(record: Record<string, unknown>): string {
    const key = this.#readQuoted() ?? this.#match(KEY)?.[0];
    const isPlain = key !== undefined && key.length <= KEY_LENGTH_MAX && !CONSTANTS.has(key);
    if (!isPlain || key === '__proto__' || Object.hasOwn(record, key)) throw new NotPlain();
    return key;
  }

  #readQuoted(): string | undefined {
    const quoted = this.#match(QUOTED);
    return quoted && (quoted[1] ?? quoted[2]);
  }

  #readWord(pattern: RegExp): unknown {
    const word = this.#match(pattern)?.[0];
    if (word === undefined) throw new NotPlain();
    if (CONSTANTS.has(word)) return CONSTANTS.get(word);
    if (/^[A-Za-z_/]|^\.{1,2}\//.test(word)) return word;
    if (/^-?\d+(?:\.\d+)?$/.test(word)) {
      const number = Number(word);
      // The library reports numbers that are not kept exactly.
      if (String(number) !== word) throw new NotPlain();
      return number;
    }
    // A text that begins with a digit. The letters could belong to a number with an exponent or another base.
    if (/^\d/.test(word) && !/[exo]/i.test(word) && (/[a-z]/i.test(word) || word.split('.').length > 2))
      return word;
    throw new NotPlain();
  }

  /** Returns whether a key and a colon follow. */
  #startsEntry(): boolean {
    const start = this.#at;
    const hasKey = this.#readQuoted() !== undefined || this.#match(KEY) !== undefined;
    const isEntry = hasKey && (this.#isNext(': ') || this.#isNext(':\n'));
    this.#at = start;
    return isEntry;
  }

  /** Returns the indentation of the next line with content; −1 at the end. Skips the lines before that line. */
  #indentOfNext(): number {
    this.#skip(EMPTY_LINES);
    const start = this.#at;
    const indent = this.#skip(SPACES);
    const isEnd = this.#at === this.text.length;
    this.#at = start;
    return isEnd ? -1 : indent;
  }

  #goTo(indent: number): true {
    this.#at += indent;
    return true;
  }

  #endLine(): void {
    if (this.#match(END_OF_LINE) === undefined) throw new NotPlain();
  }

  #isNext(text: string, ahead = 0): boolean {
    return this.text.startsWith(text, this.#at + ahead);
  }

  #take(text: string): boolean {
    const isNext = this.#isNext(text);
    if (isNext) this.#at += text.length;
    return isNext;
  }

  /** @returns the number of characters that the pattern matched */
  #skip(pattern: RegExp): number {
    return this.#match(pattern)?.[0].length ?? 0;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.text) ?? undefined;
    if (match !== undefined) this.#at = pattern.lastIndex;
    return match;
  }
}

function locate(path: Path, top: unknown, topOffset: number, offsets: ReadonlyMap<object, Offsets>): Place {
  let value = top;
  let offset = topOffset;
  for (const step of path) {
    const next = offsets.get(value as object)?.get(step);
    if (next === undefined) return { found: false, offset };
    offset = next;
    value = (value as Record<string | number, unknown>)[step];
  }
  return { found: true, offset };
}
