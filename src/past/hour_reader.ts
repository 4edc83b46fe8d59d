import type { Lost } from './entry_order.js';
import { findGroups, type HourGroups, readUpTo } from './found_groups.js';
import { decodeIndex, decodeLines, type GroupHead, type Member, type MemberIndex } from './hour_group.js';
import type { ListedHour } from './hour_list.js';
import { type FileKind, hourPath } from './hour_paths.js';
import { wholeInput, wholeLine } from './kept_line.js';
import { LostRange, PastChanged } from './lost_range.js';
import { inputsOfLines } from './member_writer.js';
import { OpenFiles, type SharedFile } from './open_files.js';
import { entryOf, type PastEntry, timeOf } from './past_entry.js';

/** The largest number of hours whose groups are in memory, and of indexes. An index of 1,000 assets takes about 200 kB. */
const HOURS_MAX = 256;
const INDEXES_MAX = 64;

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
}

/** A place from which a block can be read. */
export interface LinePlace {
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  /** @throws LostRange when the block is damaged, or with inputs when these are damaged */
  read(withInputs: boolean): Promise<LineBlock>;
}

/** An hour whose files are open. */
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
  close(): Promise<void>;
}

/** Reads the files of hours. Works on any thread, while another thread writes. All reads use Node's thread pool. */
export class HourReader {
  readonly #folder: string;
  readonly #isCurrent: (listed: ListedHour) => boolean;
  readonly #files: OpenFiles<FileKind>;
  readonly #found = new Map<string, HourGroups>();
  readonly #indexes = new Map<string, MemberIndex>();

  /** @param isCurrent returns whether the list of hours still says the same of an hour */
  constructor(folder: string, isCurrent: (listed: ListedHour) => boolean) {
    this.#folder = folder;
    this.#isCurrent = isCurrent;
    this.#files = new OpenFiles((hour, kind) => hourPath(folder, hour, kind));
  }

  /** Opens an hour. The caller must close the hour before it opens another one. */
  async open(listed: ListedHour): Promise<OpenedHour> {
    const { hour } = listed;
    await this.#files.enter(hour);
    try {
      const file = await this.#files.open(hour, 'jsonl');
      const found = file === undefined ? this.#missing(listed) : await this.#groups(file, listed);
      return {
        ...found,
        blocks: (assetKey, group) => this.#blocks(file!, listed, group, assetKey),
        assetKeys: async (group) => (await this.#index(file!, group)).keys(),
        close: () => this.#files.leave(hour),
      };
    } catch (error) {
      await this.#files.leave(hour);
      throw error;
    }
  }

  /** @throws PastChanged when the hour is no longer kept */
  #missing(listed: ListedHour): HourGroups {
    if (!this.#isCurrent(listed)) throw new PastChanged();
    const { hour, firstNs = 0n, lastNs = 0n } = listed;
    const damage = `${hourPath(this.#folder, hour, 'jsonl')} is missing`;
    return { groups: [], damage: [{ firstNs, lastNs, damage }] };
  }

  async #groups({ file, path }: SharedFile, listed: ListedHour): Promise<HourGroups> {
    const key = `${path} ${listed.bytes} ${listed.crc}`;
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const found = await findGroups(file, path, listed);
    // Damage is looked for again, because a file may come back.
    if (found.damage.length === 0) remember(this.#found, key, found, HOURS_MAX);
    return found;
  }

  async #blocks(
    shared: SharedFile,
    listed: ListedHour,
    group: GroupHead,
    assetKey: string,
  ): Promise<readonly LinePlace[]> {
    const members = (await this.#index(shared, group)).get(assetKey) ?? [];
    return members.map((member) => ({
      firstNs: member.firstNs,
      lastNs: member.lastNs,
      read: async (withInputs) => {
        const lines = await this.#lines(shared, member);
        const inputs = withInputs ? await this.#inputs(listed, member) : undefined;
        return new MemberBlock(member, lines, inputs);
      },
    }));
  }

  async #index(
    { file, path }: SharedFile,
    { index: at, end, crc, first, last }: GroupHead,
  ): Promise<MemberIndex> {
    const key = `${path} ${at} ${crc}`;
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    const index = decodeIndex(await readUpTo(file, at, end - at), crc);
    if (index === undefined)
      throw new LostRange({
        firstNs: BigInt(first ?? 0),
        lastNs: BigInt(last ?? 0),
        damage: `the index at byte ${at} of ${path} is damaged; the disk may be failing`,
      });
    remember(this.#indexes, key, index, INDEXES_MAX);
    return index;
  }

  async #lines({ file, path }: SharedFile, { at, bytes, crc, firstNs, lastNs }: Member): Promise<string[]> {
    const lines = decodeLines(await readUpTo(file, at, bytes), crc);
    if (lines !== undefined) return lines;
    throw new LostRange({
      firstNs,
      lastNs,
      damage: `the lines at byte ${at} of ${path} are damaged; the disk may be failing`,
    });
  }

  /** Reads the lines of inputs; `undefined` when inputs are not kept. */
  async #inputs(listed: ListedHour, { inputs, firstNs, lastNs }: Member): Promise<string[] | undefined> {
    if (listed.inputsBytes === 0) return undefined;
    const [at, bytes, crc] = inputs;
    const shared = await this.#files.open(listed.hour, 'inputs');
    const lines = shared && decodeLines(await readUpTo(shared.file, at, bytes), crc);
    if (lines !== undefined) return lines;
    if (shared === undefined && !this.#isCurrent(listed)) throw new PastChanged();
    const damage =
      shared === undefined
        ? `${hourPath(this.#folder, listed.hour, 'inputs')} is missing`
        : `the inputs at byte ${at} of ${shared.path} are damaged; the disk may be failing`;
    throw new LostRange({ firstNs, lastNs, damage });
  }
}

/** The lines of a member. */
class MemberBlock implements LineBlock {
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  readonly #carried: number;
  readonly #lines: readonly string[];
  readonly #inputs: readonly (readonly string[] | undefined)[] | undefined;
  /** The whole inputs of the last line. Successive lines often have the same. */
  #last: {
    readonly kept: readonly string[] | undefined;
    readonly whole: readonly string[];
    readonly list: string;
  } = { kept: undefined, whole: [], list: '[]' };
  #times: bigint[] = [];

  constructor(
    { firstNs, lastNs, carried }: Member,
    lines: readonly string[],
    inputs: readonly string[] | undefined,
  ) {
    this.firstNs = firstNs;
    this.lastNs = lastNs;
    this.#carried = carried;
    this.#lines = lines;
    this.#inputs = inputs && inputsOfLines(inputs);
  }

  get length(): number {
    return this.#lines.length;
  }

  get bytes(): number {
    return this.#lines.length * (this.#lines[0]?.length ?? 0);
  }

  timeNs(index: number): bigint {
    this.#times[index] ??= timeOf(this.#lines[index]!);
    return this.#times[index];
  }

  isCarried(index: number): boolean {
    return index < this.#carried;
  }

  bareEntry(index: number): PastEntry {
    return entryOf(this.#lines[index]!, this.isCarried(index), this.timeNs(index));
  }

  entry(index: number): PastEntry {
    const bare = this.bareEntry(index);
    if (bare.kind !== 'priced') return bare;
    const { kind, timeNs, isCarried, line } = bare;
    return { kind, timeNs, isCarried, line: wholeLine(line, this.#whole(this.#inputs?.[index])) };
  }

  /** Returns the list of the whole inputs. */
  #whole(kept: readonly string[] | undefined): string | undefined {
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
function remember<Value>(values: Map<string, Value>, key: string, value: Value, valuesMax: number): void {
  values.delete(key);
  values.set(key, value);
  if (values.size > valuesMax) values.delete(values.keys().next().value!);
}
