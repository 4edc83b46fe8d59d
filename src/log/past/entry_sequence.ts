import type { Lost } from './entry_order.js';
import type { HourList, ListedHour } from './hour_list.js';
import type { LineBlock, LinePlace, OpenedHour } from './hour_reader.js';
import { LostRange, PastChanged, RangeRemoved } from './lost_range.js';
import type { PastEntry } from './past_entry.js';
import type { PastMoment } from './past_log.js';

/** A time range: `fromNs` <= time < `toNs`. */
export interface TimeRange {
  readonly fromNs: bigint;
  readonly toNs: bigint;
}

/** Entries of an asset that are read at once. Leaves out carried copies. */
export interface EntryBlock {
  /** Reads the entries one by one. */
  entries(): Iterable<PastEntry>;
  /** The number of the entries, if all of them are aggregates; `undefined` if they must be read for that. */
  readonly rows: number | undefined;
  /** Reads the entries without their inputs. Their lines may lack the hash. */
  bareEntries(): Iterable<PastEntry>;
}

/** Blocks that are read one by one, or a few at once. */
export interface EntrySource extends AsyncIterable<EntryBlock> {
  /**
   * Reads the next few blocks, which is faster than one by one. Returns no blocks at the end.
   * @throws LostRange when the next entries of the range are lost
   * @throws RangeRemoved when the retention time of entries in the range ends during the read
   */
  nextFew(): Promise<readonly EntryBlock[]>;
  /** Continues at a time, so that a caller that waits need not hold its block. */
  continueAt(fromNs: bigint): void;
}

/** The parts of the past that a range reads. */
export interface RangeParts {
  list(): HourList;
  state(): Promise<PastMoment>;
  open(listed: ListedHour): Promise<OpenedHour>;
}

export interface WantedEntries {
  readonly assetKey: string;
  readonly range: TimeRange;
  readonly withInputs: boolean;
}

/** The approximate number of characters in a few blocks. */
const READ_CHARS_MAX = 256 * 1024;

/**
 * Reads the blocks of a range. The position between two reads is a time. So no file is open and no bytes are held then, and entries may move
 * from the log into the files of hours.
 */
export class EntrySequence implements EntrySource, AsyncIterator<EntryBlock, undefined> {
  readonly #parts: RangeParts;
  readonly #wanted: WantedEntries;
  #fromNs: bigint;
  /** The first hour of the past at the first read. */
  #firstHour: number | undefined;

  constructor(parts: RangeParts, wanted: WantedEntries) {
    this.#parts = parts;
    this.#wanted = wanted;
    this.#fromNs = wanted.range.fromNs;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<EntryBlock, undefined>> {
    const [value] = await this.#nextUpTo(1);
    return value === undefined ? { done: true, value } : { done: false, value };
  }

  nextFew(): Promise<readonly EntryBlock[]> {
    return this.#nextUpTo(READ_CHARS_MAX);
  }

  continueAt(fromNs: bigint): void {
    this.#fromNs = fromNs;
  }

  #nextUpTo(charsMax: number): Promise<readonly EntryBlock[]> {
    return readAgainIfChanged(async () => {
      if (this.#fromNs >= this.#wanted.range.toNs) return [];
      const list = await this.#withPosition(async () => this.#parts.list());
      this.#expectKept(list);
      const read = new BlockRead(this.#wanted, this.#fromNs, charsMax);
      for (const { losses } of list.hours) read.lose(losses);
      for (const listed of list.hours) {
        if (read.isOver) break;
        if (!read.mayHave(listed)) continue;
        await read.hour(await this.#parts.open(listed));
      }
      if (!read.hasBlocks) await this.#readSegments(read, list);
      const { blocks, endNs } = read.end();
      this.#fromNs = endNs;
      return blocks;
    });
  }

  /** Reads the entries that are later than those of the hours. */
  async #readSegments(read: BlockRead, list: HourList): Promise<void> {
    const { list: listNow, segments, lostFromNs } = await this.#withPosition(() => this.#parts.state());
    // A segment that has been moved into an hour meanwhile must be read there.
    if (listNow !== list) throw new PastChanged();
    for (const { losses } of segments) read.lose(losses);
    if (lostFromNs !== undefined) read.lose([{ firstNs: lostFromNs, lastNs: this.#wanted.range.toNs - 1n }]);
    for (const segment of segments)
      if (!read.isOver && read.mayHave(segment)) await read.add(segment.blocks(this.#wanted.assetKey));
  }

  /** @throws LostRange from the position on, when the state of the past cannot be read */
  async #withPosition<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (error instanceof LostRange) throw new LostRange({ ...lossOf(error), firstNs: this.#fromNs });
      throw error;
    }
  }

  /** @throws RangeRemoved when the hours of the next entries have been removed since the first read */
  #expectKept(list: HourList): void {
    const [first] = list.hours;
    this.#firstHour ??= first?.hour;
    if (first !== undefined && first.hour > this.#firstHour! && this.#fromNs < (first.firstNs ?? 0n))
      throw new RangeRemoved('the next hour of the range is no longer kept');
  }
}

/** A single read of an {@link EntrySequence}. The read ends before a loss; the next read then begins with the loss. */
class BlockRead {
  readonly #wanted: WantedEntries;
  readonly #fromNs: bigint;
  #charsLeft: number;
  readonly #blocks: EntryBlock[] = [];
  /** The time after the last entry of the blocks. */
  #endNs: bigint;
  /** The first loss of the range; the entries of this read are earlier. */
  #lost: Lost | undefined;

  constructor(wanted: WantedEntries, fromNs: bigint, charsMax: number) {
    this.#wanted = wanted;
    this.#fromNs = fromNs;
    this.#charsLeft = charsMax;
    this.#endNs = fromNs;
  }

  get #limitNs(): bigint {
    return this.#lost?.firstNs ?? this.#wanted.range.toNs;
  }

  get hasBlocks(): boolean {
    return this.#blocks.length > 0;
  }

  get isOver(): boolean {
    return this.#charsLeft <= 0 || this.#limitNs <= this.#fromNs;
  }

  lose(losses: readonly Lost[]): void {
    for (const { firstNs, lastNs, damage } of losses) {
      if (lastNs < this.#fromNs || firstNs >= this.#limitNs) continue;
      this.#lost = { firstNs: firstNs < this.#fromNs ? this.#fromNs : firstNs, lastNs, damage };
    }
  }

  mayHave({
    firstNs,
    lastNs,
  }: {
    readonly firstNs: bigint | undefined;
    readonly lastNs: bigint | undefined;
  }): boolean {
    return firstNs !== undefined && firstNs < this.#limitNs && lastNs! >= this.#fromNs;
  }

  async hour(open: OpenedHour): Promise<void> {
    this.lose(open.damage);
    for (const group of open.groups) {
      if (this.isOver) return;
      const [first, last] = [group.first, group.last].map((text) =>
        text === undefined ? undefined : BigInt(text),
      );
      if (!this.mayHave({ firstNs: first, lastNs: last })) continue;
      try {
        await this.add(await open.blocks(this.#wanted.assetKey, group));
      } catch (error) {
        if (!(error instanceof LostRange)) throw error;
        this.lose([error]);
      }
    }
  }

  async add(places: readonly LinePlace[]): Promise<void> {
    for (const place of places) {
      if (this.isOver) return;
      if (place.lastNs < this.#fromNs || place.firstNs >= this.#limitNs) continue;
      try {
        const block = await place.read(this.#wanted.withInputs);
        const isWhole = place.firstNs >= this.#fromNs && place.lastNs < this.#limitNs;
        const indexes = isWhole ? ownEntries(block) : this.#wantedOf(block);
        if (indexes.length === 0) continue;
        this.#charsLeft -= block.bytes;
        this.#endNs = (isWhole ? place.lastNs : block.timeNs(indexes.at(-1)!)) + 1n;
        this.#blocks.push(entryBlock(block, indexes, isWhole && block.rows === indexes.length));
      } catch (error) {
        if (!(error instanceof LostRange)) throw error;
        this.lose([error]);
      }
    }
  }

  #wantedOf(block: LineBlock): number[] {
    const indexes: number[] = [];
    const end = firstAfter(block, this.#limitNs - 1n);
    for (let i = firstAfter(block, this.#fromNs - 1n); i < end; i++) if (!block.isCarried(i)) indexes.push(i);
    return indexes;
  }

  /**
   * Returns the blocks, and the time after which the next read continues.
   * @throws LostRange when the range begins with a loss
   */
  end(): { readonly blocks: readonly EntryBlock[]; readonly endNs: bigint } {
    if (this.#blocks.length > 0) return { blocks: this.#blocks, endNs: this.#endNs };
    if (this.#lost !== undefined) throw new LostRange(this.#lost);
    return { blocks: [], endNs: this.#wanted.range.toNs };
  }
}

function lossOf({ firstNs, lastNs, damage }: LostRange): Lost {
  return { firstNs, lastNs, damage };
}

/** Returns the indexes of entries that are no carried copies. */
function ownEntries(block: LineBlock, from = 0, end = block.length): number[] {
  const indexes: number[] = [];
  for (let i = from; i < end; i++) if (!block.isCarried(i)) indexes.push(i);
  return indexes;
}

function entryBlock(block: LineBlock, indexes: readonly number[], isAggregates: boolean): EntryBlock {
  return {
    rows: isAggregates ? indexes.length : undefined,
    *entries() {
      for (const index of indexes) yield block.entry(index);
    },
    *bareEntries() {
      for (const index of indexes) yield block.bareEntry(index);
    },
  };
}

/** Returns the index of the first entry after a time. */
export function firstAfter(block: LineBlock, timeNs: bigint): number {
  let [low, high] = [0, block.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (block.timeNs(middle) <= timeNs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The largest number of times that a read begins again, because the past changed meanwhile. */
const TRIES_MAX = 10;

/** Reads again when the past changed during the read. */
export async function readAgainIfChanged<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof PastChanged) || tries === TRIES_MAX) throw error;
    }
  }
}
