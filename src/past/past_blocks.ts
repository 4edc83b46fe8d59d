import type { AssetName } from '../model/asset_map.js';
import { DamagedRecord } from '../records/envelope.js';
import { assetKeyOf, type ChunkBlock } from './chunk.js';
import { type BlockBytes, type BlockTexts, readBlock } from './entry_block.js';
import type { KeptEntry } from './kept_entry.js';
import type { HourOpener, OpenHour, PastPart } from './open_hour.js';
import { hourOf, NS_PER_HOUR } from './past_folder.js';
import { sentBlock } from './sent_block.js';

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
  /** The number of entries, including any outside of the range. */
  readonly count: number;
  /** Decodes the entries of the range one by one. Leaves out carried copies. */
  entries(): Iterable<KeptEntry>;
  /** Decodes the entries like {@link entries}, without their inputs. */
  bareEntries(): Iterable<KeptEntry>;
  /** Encodes all entries of the block, including any outside of the range, for another process. */
  sent(): Buffer;
}

/** The largest number of bytes that are read while an hour's files are open, so that a slow reader holds few bytes. */
const READ_BYTES_MAX = 64 * 1024;

/** The position of a block in its hour: the number of its part, and its position there. */
interface BlockPlace {
  readonly number: number;
  readonly index: number;
}

interface Wanted {
  readonly name: AssetName;
  readonly range: PastRange;
  readonly withInputs: boolean;
}

/** Blocks, and the position of the next block; `undefined` at the end of the hour. */
interface ReadBlocks {
  readonly blocks: readonly PastBlock[];
  readonly next: BlockPlace | undefined;
}

/** Reads the blocks of a range. */
export async function* pastBlocks(
  opener: HourOpener,
  name: AssetName,
  range: PastRange,
  withInputs: boolean,
): AsyncIterable<PastBlock> {
  const lastHour = hourOf(range.toNs - 1n);
  for (const hour of opener.hours().filter((one) => one >= hourOf(range.fromNs))) {
    for (let at: BlockPlace | undefined = { number: 0, index: 0 }; at !== undefined; ) {
      const open = await opener.open(hour, withInputs);
      let read: ReadBlocks;
      try {
        if (!open.isKept) throw new PastRemoved(`hour ${hour} is no longer kept`);
        // Entries that were signed at the end of an hour may be at the beginning of the next hour's file.
        if (hour > lastHour && !open.parts.some((part) => isIn(part, range))) return;
        read = await readSome(open, hour, { name, range, withInputs }, at);
      } finally {
        await open.close();
      }
      yield* read.blocks;
      at = read.next;
    }
  }
}

async function readSome(open: OpenHour, hour: number, wanted: Wanted, from: BlockPlace): Promise<ReadBlocks> {
  const { name, range, withInputs } = wanted;
  const assetKey = assetKeyOf(name);
  const blocks: PastBlock[] = [];
  let bytes = 0;
  let damage: string | undefined;
  let lastNs = BigInt(hour) * NS_PER_HOUR - 1n;
  for (const part of open.parts) {
    damage ??= part.damageBefore;
    if (damage !== undefined && part.firstNs !== undefined && part.number >= from.number) {
      const isLost = lastNs + 1n < range.toNs && part.firstNs > range.fromNs;
      if (isLost && blocks.length > 0) return { blocks, next: { number: part.number, index: 0 } };
      if (isLost && from.index === 0) throw new DamagedRange(damage, lastNs + 1n, part.firstNs - 1n);
    }
    damage = part.damageAfter;
    if (part.firstNs !== undefined) lastNs = part.lastNs;
    if (part.number < from.number || !isIn(part, range)) continue;
    let all: readonly ChunkBlock[];
    try {
      all = await part.blocks(assetKey);
    } catch (error) {
      if (blocks.length > 0) return { blocks, next: { number: part.number, index: 0 } };
      throw inRange(error, part.firstNs!, part.lastNs);
    }
    for (let index = part.number === from.number ? from.index : 0; index < all.length; index++) {
      const block = all[index]!;
      if (block.maxNs < range.fromNs || block.minNs >= range.toNs) continue;
      if (bytes >= READ_BYTES_MAX) return { blocks, next: { number: part.number, index } };
      try {
        const read = await part.read(assetKey, index, withInputs);
        bytes += read.bytes.signatures.length + (read.bytes.inputs?.length ?? 0);
        blocks.push(blockOf(block, read, wanted));
      } catch (error) {
        if (blocks.length > 0) return { blocks, next: { number: part.number, index } };
        throw inRange(error, block.minNs, block.maxNs);
      }
    }
  }
  damage ??= open.damageAtEnd;
  const isLost = damage !== undefined && lastNs + 1n < range.toNs;
  if (!isLost) return { blocks, next: undefined };
  if (blocks.length > 0) return { blocks, next: { number: Number.MAX_SAFE_INTEGER, index: 0 } };
  throw new DamagedRange(damage!, lastNs + 1n, BigInt(hour + 1) * NS_PER_HOUR - 1n);
}

function blockOf(
  { entries: count }: ChunkBlock,
  { bytes, texts }: { readonly bytes: BlockBytes; readonly texts: BlockTexts },
  { name, range: { fromNs, toNs }, withInputs }: Wanted,
): PastBlock {
  const bare = { ...bytes, inputs: undefined };
  function* read(from: BlockBytes): Iterable<KeptEntry> {
    for (const entry of readBlock(name, from, texts))
      if (!entry.isCarried && entry.timeNs >= fromNs && entry.timeNs < toNs) yield entry;
  }
  return {
    count,
    entries: () => read(bytes),
    bareEntries: () => read(bare),
    // The block of a running chunk always has its inputs.
    sent: () => sentBlock(name, withInputs ? bytes : bare, texts),
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
