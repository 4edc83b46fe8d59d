import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { MEMBER_LINES_MAX, type Member } from './hour_group.js';
import { keptInput, splitLine } from './kept_line.js';
import type { WrittenEntry } from './past_entry.js';

const zip = promisify(gzip);

/** The bytes of a member, before its place in the file is known. */
export interface MemberBytes extends Pick<Member, 'firstNs' | 'lastNs' | 'lines' | 'carried' | 'rows'> {
  readonly text: Buffer;
  readonly inputs: Buffer;
}

/** The inputs of a line that has none, or that the line itself keeps. */
const NO_INPUTS = 'null\n';

/**
 * Collects the lines of an asset for members of at most {@link MEMBER_LINES_MAX} lines. A member of inputs has each input once, as a line
 * before the first line of places that needs it. Each line of the asset has one line of places:
 *
 *     [0,2]           the inputs read since the last line of places take these places; the others stay
 *     {"all":[3,0]}   exactly these inputs, by their number in the member
 *     null            no inputs
 */
export class MemberWriter {
  readonly #full: Promise<MemberBytes>[] = [];
  #lines: string[] = [];
  #inputs: string[] = [];
  #carried = 0;
  #rows = 0;
  #firstNs = 0n;
  #lastNs = 0n;
  /** The number of each kept input. */
  #numbers = new Map<string, number>();
  #last: LastInputs = NO_LAST;

  /** The carried copies of a member come first, so a carried copy after other lines begins a member. */
  add({ kind, timeNs, text }: WrittenEntry, isCarried: boolean): void {
    if (isCarried && this.#lines.length > this.#carried) this.#end();
    if (this.#lines.length === 0 || timeNs < this.#firstNs) this.#firstNs = timeNs;
    if (this.#lines.length === 0 || timeNs > this.#lastNs) this.#lastNs = timeNs;
    if (isCarried) this.#carried++;
    else if (kind === 'priced') this.#rows++;
    const { head, inputs } = kind === 'priced' ? splitLine(text) : { head: text, inputs: undefined };
    this.#lines.push(`${head}\n`);
    this.#inputs.push(inputs === undefined ? NO_INPUTS : this.#inputNumbers(inputs));
    if (this.#lines.length >= MEMBER_LINES_MAX) this.#end();
  }

  /** Turns all lines of the unfinished member into carried copies. */
  carryAll(): void {
    this.#carried = this.#lines.length;
    this.#rows = 0;
  }

  /** Returns all members. The writer is empty afterwards. */
  async take(): Promise<MemberBytes[]> {
    if (this.#lines.length > 0) this.#end();
    return Promise.all(this.#full.splice(0));
  }

  #inputNumbers(inputs: readonly string[]): string {
    const { whole, numbers: before } = this.#last;
    let text = '';
    const next = this.#numbers.size;
    const numbers = inputs.map((wholeText, place) => {
      if (whole[place] === wholeText) return before[place]!;
      const input = keptInput(wholeText);
      const known = this.#numbers.get(input);
      if (known !== undefined) return known;
      const number = this.#numbers.size;
      this.#numbers.set(input, number);
      text += `${input}\n`;
      return number;
    });
    this.#last = { whole: inputs, numbers };
    const isSame = before.length === numbers.length || before.length === 0;
    const fresh = numbers.flatMap((number, place) => (number === before[place] ? [] : [place]));
    // The places of new inputs, in the order in which the member has them.
    const isUsual =
      isSame &&
      fresh.every((place, i) => numbers[place] === next + i) &&
      next + fresh.length === this.#numbers.size;
    return `${text}${isUsual ? `[${fresh.join()}]` : `{"all":[${numbers.join()}]}`}\n`;
  }

  #end(): void {
    const [lines, inputs] = [this.#lines.join(''), this.#inputs.join('')];
    const rest = {
      firstNs: this.#firstNs,
      lastNs: this.#lastNs,
      lines: this.#lines.length,
      carried: this.#carried,
      rows: this.#rows,
    };
    this.#full.push(
      Promise.all([zip(lines), zip(inputs)]).then(([text, of]) => ({ ...rest, text, inputs: of })),
    );
    this.#lines = [];
    this.#inputs = [];
    this.#carried = 0;
    this.#rows = 0;
    this.#numbers = new Map();
    this.#last = NO_LAST;
  }
}

/** The inputs of the last aggregate, as texts of its line, and their numbers. */
interface LastInputs {
  readonly whole: readonly string[];
  readonly numbers: readonly number[];
}

const NO_LAST: LastInputs = { whole: [], numbers: [] };

/** Reads the inputs of each line of a member, as the member keeps them. @returns `undefined` for a line without inputs */
export function inputsOfLines(lines: readonly string[]): (readonly string[] | undefined)[] {
  const each: (readonly string[] | undefined)[] = [];
  const inputs: string[] = [];
  let current: readonly string[] = [];
  let fresh: string[] = [];
  for (const line of lines) {
    if (line.startsWith('{"all":')) {
      current = (JSON.parse(line) as { all: number[] }).all.map((number) => inputs[number]!);
      each.push(current);
      fresh = [];
    } else if (line.startsWith('{')) {
      inputs.push(line);
      fresh.push(line);
    } else if (line === 'null') each.push(undefined);
    else {
      if (line !== '[]') {
        const next = [...current];
        (JSON.parse(line) as number[]).forEach((place, i) => {
          next[place] = fresh[i]!;
        });
        current = next;
        fresh = [];
      }
      each.push(current);
    }
  }
  return each;
}
