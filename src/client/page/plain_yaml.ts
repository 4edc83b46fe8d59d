/** A value of a file, with the line of its beginning, counted from 1. Every scalar is a text, also numbers. */
export type FileValue =
  | { readonly line: number; readonly kind: 'text'; readonly text: string }
  | { readonly line: number; readonly kind: 'list'; readonly items: readonly FileValue[] }
  | { readonly line: number; readonly kind: 'map'; readonly entries: ReadonlyMap<string, FileValue> };

/** An error in a file, at a line. */
export class FileError extends Error {
  constructor(line: number, reason: string) {
    super(`line ${line}: ${reason}`);
  }
}

/** The deepest nesting of lists and mappings. */
const DEPTH_MAX = 8;
/** A plain scalar begins with none of these characters, because YAML gives them a meaning. */
const RESERVED = /^[-?:](?:\s|$)|^[,[\]{}#&*!|>'"%@`]/;

/**
 * Reads the part of YAML in which a file of operators is written: mappings and lists in blocks by spaces or in brackets, texts of one
 * line and comments. This part includes JSON. A whole YAML parser would be a fifth of the page. Every other part of YAML is an error.
 * @throws FileError
 */
export function readPlainYaml(text: string): FileValue {
  return new PlainYaml(text).read();
}

class PlainYaml {
  readonly #text: string;
  #at = 0;
  #line = 1;
  /** The offset of the beginning of the line. */
  #lineAt = 0;

  constructor(text: string) {
    this.#text = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  }

  read(): FileValue {
    this.#skip();
    if (this.#text.startsWith('---', this.#at) && this.#column === 0) {
      const line = this.#line;
      this.#at += 3;
      this.#skip();
      if (!this.#isAtEnd && this.#line === line) this.#fail('nothing may follow --- on its line');
    }
    if (this.#isAtEnd) this.#fail('the file is empty');
    const value = this.#block(0);
    this.#skip();
    if (!this.#isAtEnd) this.#fail('this line is indented otherwise than the lines before it');
    return value;
  }

  get #isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  get #column(): number {
    return this.#at - this.#lineAt;
  }

  /** Skips spaces, comments and line ends. A comment needs a space before it. */
  #skip(): void {
    for (;;) {
      const char = this.#text[this.#at];
      if (char === '\n') {
        this.#at += 1;
        this.#line += 1;
        this.#lineAt = this.#at;
      } else if (char === '\t') this.#fail('a tab stands where YAML needs spaces');
      else if (char === ' ') this.#at += 1;
      else if (char === '#' && (this.#column === 0 || this.#text[this.#at - 1] === ' ')) {
        const end = this.#text.indexOf('\n', this.#at);
        this.#at = end < 0 ? this.#text.length : end;
      } else return;
    }
  }

  /** Reads a block that begins here: a list, a mapping, or a value. */
  #block(depth: number): FileValue {
    if (depth > DEPTH_MAX) this.#fail('the nesting is too deep');
    if (this.#isDash()) return this.#blockList(depth);
    const key = this.#key();
    return key === undefined ? this.#value(depth) : this.#blockMap(key, depth);
  }

  #isDash(): boolean {
    return /^-(?:\s|$)/.test(this.#text.slice(this.#at, this.#at + 2));
  }

  #blockList(depth: number): FileValue {
    const [line, column] = [this.#line, this.#column];
    const items: FileValue[] = [];
    while (!this.#isAtEnd && this.#column === column && this.#isDash()) {
      const dash = this.#line;
      this.#at += 1;
      this.#skip();
      if (this.#isAtEnd || this.#column <= column)
        throw new FileError(dash, 'the item of the list is missing');
      items.push(this.#block(depth + 1));
      this.#skip();
    }
    return { line, kind: 'list', items };
  }

  #blockMap(first: string, depth: number): FileValue {
    const [line, column] = [this.#line, this.#keyColumn];
    const entries = new Map<string, FileValue>();
    for (let key: string | undefined = first; key !== undefined; ) {
      const keyLine = this.#line;
      if (entries.has(key)) this.#fail(`${key} is given twice`);
      this.#skip();
      // A list may stand as deep as its key.
      const isValue =
        !this.#isAtEnd &&
        (this.#line === keyLine || this.#column > column || (this.#column === column && this.#isDash()));
      if (!isValue) throw new FileError(keyLine, `${key} has no value`);
      if (this.#line === keyLine && this.#isDash()) this.#fail('a list begins on a line of its own');
      entries.set(key, this.#line === keyLine ? this.#value(depth) : this.#block(depth + 1));
      this.#skip();
      if (this.#isAtEnd || this.#column !== column) break;
      key = this.#key();
      if (key === undefined) this.#fail('expected a key and a colon');
    }
    return { line, kind: 'map', entries };
  }

  #keyColumn = 0;

  /** Reads a key with its colon, if one begins here. */
  #key(): string | undefined {
    const [found, quoted, plain] =
      /^(?:"([^"\\\n]*)"|'[^'\n]*'|([A-Za-z_][\w-]*)) *:(?=\s|$)/.exec(
        this.#text.slice(this.#at, this.#at + 80),
      ) ?? [];
    if (found === undefined) return undefined;
    this.#keyColumn = this.#column;
    this.#at += found.length;
    return quoted ?? plain ?? found.slice(1, found.lastIndexOf("'"));
  }

  /** Reads a value of one line, or a list or a mapping in brackets. */
  #value(depth: number): FileValue {
    const value = this.#flow(depth, /(?: #|: |:$|\n|$)/m);
    const rest = /^[^\n]*/.exec(this.#text.slice(this.#at))![0];
    if (/^ *(?:#.*)?$/.test(rest) && !/^#/.test(rest)) return value;
    return this.#fail(`not understood: ${rest.trim().slice(0, 40)}`);
  }

  #flow(depth: number, end: RegExp): FileValue {
    if (depth > DEPTH_MAX) this.#fail('the nesting is too deep');
    const line = this.#line;
    const char = this.#text[this.#at];
    if (char === '[') return { line, kind: 'list', items: this.#bracketed(']', () => this.#item(depth)) };
    if (char === '{') {
      const entries = new Map<string, FileValue>();
      this.#bracketed('}', () => {
        const key = this.#flowKey();
        if (entries.has(key)) this.#fail(`${key} is given twice`);
        entries.set(key, this.#item(depth));
      });
      return { line, kind: 'map', entries };
    }
    return { line, kind: 'text', text: char === '"' || char === "'" ? this.#quoted(char) : this.#plain(end) };
  }

  #item(depth: number): FileValue {
    return this.#flow(depth + 1, /(?: #|:[ ,[\]{}]|:$|[,[\]{}\n]|$)/m);
  }

  #flowKey(): string {
    const char = this.#text[this.#at]!;
    const isQuoted = char === '"' || char === "'";
    const key = isQuoted
      ? this.#quoted(char)
      : /^[A-Za-z_][\w-]*(?= *:\s)|/.exec(this.#text.slice(this.#at))![0];
    if (!isQuoted) this.#at += key.length;
    this.#skip();
    if (this.#text[this.#at] !== ':' || (key === '' && !isQuoted))
      this.#fail('expected a key, a colon and a space');
    this.#at += 1;
    this.#skip();
    return key;
  }

  #bracketed<T>(close: string, readItem: () => T): T[] {
    const items: T[] = [];
    const line = this.#line;
    for (;;) {
      this.#at += 1;
      this.#skip();
      if (this.#text[this.#at] === close) break;
      items.push(readItem());
      this.#skip();
      if (this.#text[this.#at] === close) break;
      if (this.#isAtEnd) throw new FileError(line, `the bracket is not closed by ${close}`);
      if (this.#text[this.#at] !== ',') this.#fail(`expected a comma or ${close}`);
    }
    this.#at += 1;
    return items;
  }

  #quoted(quote: string): string {
    const pattern = quote === '"' ? /^"(?:[^"\\\n]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"/ : /^'(?:[^'\n]|'')*'/;
    const found = pattern.exec(this.#text.slice(this.#at))?.[0];
    if (found === undefined)
      return this.#fail(`the text is not closed by ${quote}, or has an unknown escape`);
    this.#at += found.length;
    return quote === '"' ? (JSON.parse(found) as string) : found.slice(1, -1).replaceAll("''", "'");
  }

  #plain(end: RegExp): string {
    const rest = this.#text.slice(this.#at);
    const text = rest.slice(0, end.exec(rest)!.index).trimEnd();
    if (text === '' || RESERVED.test(text) || text.includes('\t'))
      return this.#fail('a value in this form of YAML is not read here; write the text in quotes');
    this.#at += text.length;
    return text;
  }

  #fail(reason: string): never {
    throw new FileError(this.#line, reason);
  }
}
