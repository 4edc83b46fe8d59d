import type { AssetName } from '../model/asset_map.js';
import { DamagedRecord } from '../records/envelope.js';
import { assetKeyOf, type ChunkBlock } from './chunk.js';
import { type BlockBytes, type BlockTexts, readBlock } from './entry_block.js';
import type { KeptEntry } from './kept_entry.js';
import { lostBetween } from './lost_hour.js';
import type { HourOpener, OpenHour, PastPart } from './open_hour.js';
import { hourOf, NS_PER_HOUR } from './past_folder.js';

/** A time range: `fromNs` <= time < `toNs`. */
export interface PastRange {
  readonly fromNs: bigint;
  readonly toNs: bigint;
}

/** Thrown when a part of the past cannot be read. The entries in its range, including both ends, are lost. */
export class DamagedRange extends DamagedRecord {
  constructor(
    message: string,
    readonly firstNs: bigint,
    readonly lastNs: bigint,
  ) {
    super(message);
  }
}

/** Thrown when files were removed while a range was read, because their retention time ended. */
export class PastRemoved extends Error {
  override readonly name = 'PastRemoved';
}

/** Entries of an asset that are read at once. */
export interface PastBlock {
  /** Decodes the entries of the range one by one. Leaves out carried copies. */
  entries(): Iterable<KeptEntry>;
  /** Decodes the entries like {@link entries}, without their inputs. */
  bareEntries(): Iterable<KeptEntry>;
}

/** The approximate number of bytes in a few blocks. */
const READ_BYTES_MAX = 64 * 1024;

/** Blocks that are read one by one, or a few at once. */
export interface BlockSource extends AsyncIterable<PastBlock> {
  /** Reads the next few blocks, which is faster than one by one. Returns no blocks at the end. */
  nextFew(): Promise<readonly PastBlock[]>;
  /** Lets the iterator return its last block again, so that a caller that waits need not hold the block. */
  repeat(): void;
}

/** The position of a block in its hour: the number of its part, and its position there. */
interface BlockPlace {
  readonly number: number;
  readonly index: number;
}

const START: BlockPlace = { number: 0, index: 0 };

/** The blocks that a caller wants. */
export interface WantedBlocks {
  readonly name: AssetName;
  readonly range: PastRange;
  readonly withInputs: boolean;
}

/**
 * Reads the blocks of a range one by one. Between two blocks, no file is open and no bytes of a block are held, so many slow callers need
 * little memory. A generator would hold its last block.
 */
export class BlockSequence implements BlockSource, AsyncIterator<PastBlock, undefined> {
  readonly #opener: HourOpener;
  readonly #wanted: WantedBlocks;
  /** The hours that are not read yet, ascending. */
  readonly #hours: number[];
  /** The hour with files before the next hour; -1 without one. */
  #previous: number;
  #at: BlockPlace = START;
  /** The position of the last block. */
  #lastAt: BlockPlace = START;

  constructor(opener: HourOpener, wanted: WantedBlocks) {
    this.#opener = opener;
    this.#wanted = wanted;
    const hours = opener.hours();
    this.#hours = hours.filter((one) => one >= hourOf(wanted.range.fromNs));
    this.#previous = hours.at(-1 - this.#hours.length) ?? -1;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<PastBlock, undefined>> {
    const [value] = await this.#nextUpTo(1);
    return value === undefined ? { done: true, value } : { done: false, value };
  }

  nextFew(): Promise<readonly PastBlock[]> {
    return this.#nextUpTo(READ_BYTES_MAX);
  }

  repeat(): void {
    this.#at = this.#lastAt;
  }

  async #nextUpTo(bytesMax: number): Promise<readonly PastBlock[]> {
    while (this.#hours.length > 0) {
      const hour = this.#hours[0]!;
      if (this.#at === START) await this.#expectNothingLost(hour);
      const blocks = await this.#nextIn(hour, bytesMax);
      if (blocks.length > 0) return blocks;
      this.#previous = hour;
      this.#hours.shift();
      this.#at = START;
    }
    return [];
  }

  /** @throws DamagedRange when entries of the range were in files before this hour that are missing */
  async #expectNothingLost(hour: number): Promise<void> {
    const { name, range } = this.#wanted;
    const lost = await lostBetween(this.#opener, name, this.#previous, hour);
    if (lost !== undefined && lost.firstNs < range.toNs && lost.lastNs >= range.fromNs)
      throw new DamagedRange(lost.message, lost.firstNs, lost.lastNs);
  }

  /** Reads the next blocks of an hour. Returns no blocks at the end of the hour. */
  async #nextIn(hour: number, bytesMax: number): Promise<readonly PastBlock[]> {
    const { range, withInputs } = this.#wanted;
    const open = await this.#opener.open(hour, withInputs);
    try {
      if (!open.isKept) throw new PastRemoved(`hour ${hour} is no longer kept`);
      // Entries that were signed at the end of an hour may be at the beginning of the next hour's file.
      if (hour > hourOf(range.toNs - 1n) && !open.parts.some((part) => isIn(part, range))) {
        this.#hours.length = 0;
        return [];
      }
      return await this.#read(open, hour, bytesMax);
    } finally {
      await open.close();
    }
  }

  /** Reads blocks up to a size, or up to damage. The next call then throws the error about the damage. */
  async #read(open: OpenHour, hour: number, bytesMax: number): Promise<readonly PastBlock[]> {
    const { name, range, withInputs } = this.#wanted;
    const from = this.#at;
    const assetKey = assetKeyOf(name);
    const blocks: PastBlock[] = [];
    let bytes = 0;
    let damage: string | undefined;
    let lastNs = BigInt(hour) * NS_PER_HOUR - 1n;
    for (const part of open.parts) {
      damage ??= part.damageBefore;
      const isAhead = part.number > from.number || (part.number === from.number && from.index === 0);
      if (damage !== undefined && part.firstNs !== undefined && isAhead) {
        const isLost = lastNs + 1n < range.toNs && part.firstNs > range.fromNs;
        if (isLost && blocks.length > 0) return blocks;
        if (isLost) throw new DamagedRange(damage, lastNs + 1n, part.firstNs - 1n);
      }
      damage = part.damageAfter;
      if (part.firstNs !== undefined) lastNs = part.lastNs;
      if (part.number < from.number || !isIn(part, range)) continue;
      let all: readonly ChunkBlock[];
      try {
        all = await part.blocks(assetKey);
      } catch (error) {
        if (blocks.length > 0) return blocks;
        throw inRange(error, part.firstNs!, part.lastNs);
      }
      for (let index = part.number === from.number ? from.index : 0; index < all.length; index++) {
        const block = all[index]!;
        if (block.maxNs < range.fromNs || block.minNs >= range.toNs) continue;
        if (bytes >= bytesMax) return blocks;
        try {
          const read = await part.read(assetKey, index, withInputs);
          bytes += read.bytes.signatures.length + (read.bytes.inputs?.length ?? 0);
          blocks.push(blockOf(read, this.#wanted));
        } catch (error) {
          if (blocks.length > 0) return blocks;
          throw inRange(error, block.minNs, block.maxNs);
        }
        this.#lastAt = { number: part.number, index };
        this.#at = { number: part.number, index: index + 1 };
      }
    }
    damage ??= open.damageAtEnd;
    const isLost = damage !== undefined && lastNs + 1n < range.toNs;
    if (isLost && blocks.length === 0)
      throw new DamagedRange(damage!, lastNs + 1n, BigInt(hour + 1) * NS_PER_HOUR - 1n);
    return blocks;
  }
}

function blockOf(
  { bytes, texts }: { readonly bytes: BlockBytes; readonly texts: BlockTexts },
  { name, range: { fromNs, toNs } }: WantedBlocks,
): PastBlock {
  function* read(from: BlockBytes): Iterable<KeptEntry> {
    for (const entry of readBlock(name, from, texts))
      if (!entry.isCarried && entry.timeNs >= fromNs && entry.timeNs < toNs) yield entry;
  }
  return {
    entries: () => read(bytes),
    bareEntries: () => read({ ...bytes, inputs: undefined }),
  };
}

/** Returns whether a part has entries of a range. */
function isIn({ firstNs, lastNs }: PastPart, { fromNs, toNs }: PastRange): boolean {
  return firstNs !== undefined && firstNs < toNs && lastNs >= fromNs;
}

/** Adds the times of the lost entries to an error about damage. */
function inRange(error: unknown, firstNs: bigint, lastNs: bigint): unknown {
  return error instanceof DamagedRecord ? new DamagedRange(error.message, firstNs, lastNs) : error;
}
