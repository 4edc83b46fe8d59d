import type { Lost } from './entry_order.js';
import { findGroups, type HourGroups, readPart } from './found_groups.js';
import { decodeIndex, type GroupHead, type Member, type MemberIndex, MemberLines } from './hour_group.js';
import type { ListedHour } from './hour_list.js';
import { hourPath } from './hour_paths.js';
import { wholeInput, wholeLine } from './kept_line.js';
import { LostRange, PastChanged } from './lost_range.js';
import { inputsOfLines } from './member_writer.js';
import { entryOf, type PastEntry, timeOf } from './past_entry.js';

/** The largest number of hours whose groups are in memory, and of indexes. An index of 1,000 assets takes about 200 kB. */
const HOURS_MAX = 256;
const INDEXES_MAX = 64;
/** The approximate size of a line without inputs. */
const LINE_BYTES = 700;
/** The largest number of members whose lines are in memory: 2 MB. */
const MEMBERS_MAX = 8;

/** Lines of an asset that are read at once, ascending by time. */
export interface LineBlock {
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  readonly length: number;
  timeNs(index: number): bigint;
  isCarried(index: number): boolean;
  /** Returns an entry; with the line's inputs if the block was read with inputs. */
  entry(index: number): PastEntry;
  /** Returns an entry whose line has no inputs and may lack its hash, which takes less time. */
  bareEntry(index: number): PastEntry;
  /** The approximate size of the lines. */
  readonly bytes: number;
  /** The number of the aggregates that are no carried copies; `undefined` if it is not known. */
  readonly rows: number | undefined;
}

/** A place from which a block can be read. */
export interface LinePlace {
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  /** @throws LostRange when the block is damaged, or with inputs when these are damaged */
  read(withInputs: boolean): Promise<LineBlock>;
}

/** An hour and its groups. */
export interface OpenedHour {
  readonly damage: readonly Lost[];
  /**
   * Returns the blocks of an asset in order.
   * @throws LostRange when an index is damaged
   */
  blocks(assetKey: string, group: GroupHead): Promise<readonly LinePlace[]>;
  readonly groups: readonly GroupHead[];
  /** Returns the keys of the assets of a group. @throws LostRange when the index is damaged */
  assetKeys(group: GroupHead): Promise<Iterable<string>>;
}

/** Reads the files of hours. Works on any thread, while another thread writes. All reads use Node's thread pool. */
export class HourReader {
  readonly #folder: string;
  readonly #isCurrent: (listed: ListedHour) => boolean;
  readonly #found = new Map<string, HourGroups>();
  readonly #indexes = new Map<string, MemberIndex>();
  /** The lines of the members that were read last. Many readers ask for the same instant. */
  readonly #read = new Map<string, MemberLines>();

  /** @param isCurrent returns whether the list of hours still says the same of an hour */
  constructor(folder: string, isCurrent: (listed: ListedHour) => boolean) {
    this.#folder = folder;
    this.#isCurrent = isCurrent;
  }

  /** Finds the groups of an hour. @throws PastChanged when the hour is no longer kept */
  async open(listed: ListedHour): Promise<OpenedHour> {
    const path = hourPath(this.#folder, listed.hour, 'jsonl');
    return {
      ...(await this.#readGroups(path, listed)),
      blocks: (assetKey, group) => this.#readBlocks(path, listed, group, assetKey),
      assetKeys: async (group) => (await this.#readIndex(path, group)).keys(),
    };
  }

  async #readGroups(path: string, listed: ListedHour): Promise<HourGroups> {
    const key = `${path} ${listed.bytes} ${listed.crc}`;
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const found = await findGroups(path, listed);
    // Groups with damage are read again by the next reader, because a file may come back.
    if (found?.damage.length === 0) rememberValue(this.#found, key, found, HOURS_MAX);
    if (found !== undefined) return found;
    if (!this.#isCurrent(listed)) throw new PastChanged();
    const { firstNs = 0n, lastNs = 0n } = listed;
    return { groups: [], damage: [{ firstNs, lastNs, damage: `${path} is missing` }] };
  }

  async #readBlocks(
    path: string,
    listed: ListedHour,
    group: GroupHead,
    assetKey: string,
  ): Promise<readonly LinePlace[]> {
    const members = (await this.#readIndex(path, group)).get(assetKey) ?? [];
    return members.map((member) => ({
      firstNs: member.firstNs,
      lastNs: member.lastNs,
      read: async (withInputs) => {
        const lines = await this.#readLines(path, listed, member);
        const inputs = withInputs ? await this.#readInputs(listed, member) : undefined;
        return new MemberBlock(member, lines, inputs);
      },
    }));
  }

  async #readIndex(path: string, { index: at, end, crc, first, last }: GroupHead): Promise<MemberIndex> {
    const key = `${path} ${at} ${crc}`;
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    const index = decodeIndex((await readPart(path, at, end - at)) ?? Buffer.alloc(0), crc);
    if (index === undefined)
      throw new LostRange({
        firstNs: BigInt(first ?? 0),
        lastNs: BigInt(last ?? 0),
        damage: `the index at byte ${at} of ${path} is damaged; the disk may be failing`,
      });
    rememberValue(this.#indexes, key, index, INDEXES_MAX);
    return index;
  }

  async #readLines(
    path: string,
    listed: ListedHour,
    { at, bytes, crc, firstNs, lastNs }: Member,
  ): Promise<MemberLines> {
    const key = `${path} ${at} ${crc}`;
    const known = this.#read.get(key);
    if (known !== undefined) return known;
    const read = await readPart(path, at, bytes);
    const lines = read && MemberLines.of(read, crc);
    if (lines !== undefined) {
      rememberValue(this.#read, key, lines, MEMBERS_MAX);
      return lines;
    }
    if (read === undefined && !this.#isCurrent(listed)) throw new PastChanged();
    throw new LostRange({ firstNs, lastNs, damage: partDamage(path, at, read) });
  }

  /** Reads the lines of inputs; `undefined` when inputs are not kept. */
  #readInputs(
    listed: ListedHour,
    { inputs: [at, bytes, crc], ...member }: Member,
  ): Promise<MemberLines> | undefined {
    if (listed.inputsBytes === 0) return undefined;
    return this.#readLines(hourPath(this.#folder, listed.hour, 'inputs'), listed, {
      ...member,
      at,
      bytes,
      crc,
    } as Member);
  }
}

function partDamage(path: string, at: number, read: Buffer | undefined): string {
  return read === undefined
    ? `${path} is missing`
    : `the lines at byte ${at} of ${path} are damaged; the disk may be failing`;
}

/** The lines of a member. */
class MemberBlock implements LineBlock {
  readonly #member: Member;
  readonly #lines: MemberLines;
  readonly #inputs: MemberLines | undefined;
  #inputsOf: readonly (readonly string[] | undefined)[] | undefined;
  /** The whole inputs of the last line. Successive lines often have the same. */
  #last: {
    readonly kept: readonly string[] | undefined;
    readonly whole: readonly string[];
    readonly list: string;
  } = { kept: undefined, whole: [], list: '[]' };
  readonly #times: bigint[] = [];

  constructor(member: Member, lines: MemberLines, inputs: MemberLines | undefined) {
    this.#member = member;
    this.#lines = lines;
    this.#inputs = inputs;
  }

  get firstNs(): bigint {
    return this.#member.firstNs;
  }

  get lastNs(): bigint {
    return this.#member.lastNs;
  }

  get length(): number {
    return this.#member.lines;
  }

  get rows(): number {
    return this.#member.rows;
  }

  get bytes(): number {
    return this.length * LINE_BYTES;
  }

  timeNs(index: number): bigint {
    this.#times[index] ??= timeOf(this.#lines.all[index]!);
    return this.#times[index];
  }

  isCarried(index: number): boolean {
    return index < this.#member.carried;
  }

  bareEntry(index: number): PastEntry {
    return entryOf(this.#lines.all[index]!, this.isCarried(index), this.timeNs(index));
  }

  entry(index: number): PastEntry {
    const bare = this.bareEntry(index);
    if (bare.kind !== 'priced') return bare;
    const { kind, timeNs, isCarried, line } = bare;
    return { kind, timeNs, isCarried, line: wholeLine(line, this.#wholeInputs(index)) };
  }

  /** Returns the list of the whole inputs of a line. */
  #wholeInputs(index: number): string | undefined {
    this.#inputsOf ??= inputsOfLines(this.#inputs?.all ?? []);
    const kept = this.#inputsOf[index];
    if (kept === undefined) return undefined;
    const { kept: before, whole } = this.#last;
    if (kept !== before) {
      const next = kept.map((text, i) => (text === before?.[i] ? whole[i]! : wholeInput(text)));
      this.#last = { kept, whole: next, list: `[${next.join()}]` };
    }
    return this.#last.list;
  }
}

/** Adds a value. Removes the oldest value if there are too many. */
function rememberValue<Value>(
  values: Map<string, Value>,
  key: string,
  value: Value,
  valuesMax: number,
): void {
  values.delete(key);
  values.set(key, value);
  if (values.size > valuesMax) values.delete(values.keys().next().value!);
}
