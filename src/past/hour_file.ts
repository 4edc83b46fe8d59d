import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { Chunk } from './chunk.js';
import {
  decodeHeader,
  decodeIndex,
  GROUP_HEADER_BYTES,
  type GroupHeader,
  groupParts,
  type Tier,
} from './chunk_group.js';
import { tierPath } from './past_folder.js';
import { writeAll } from './running_log.js';

/** The size of the parts in which a group is written. */
const PART_BYTES = 256 * 1024;
/** The size of the parts in which a file is searched for the next group after a damaged group. */
const SEARCH_BYTES = 1024 * 1024;

/** A group and its position in its file. */
export interface PlacedGroup {
  readonly at: number;
  readonly header: GroupHeader;
}

export interface FoundGroups {
  readonly groups: readonly PlacedGroup[];
  /** The end of the last complete group. */
  readonly end: number;
  /** The positions of damaged bytes between groups. */
  readonly damagedAt: readonly number[];
  /** True when other bytes follow the last complete group. */
  readonly hasTail: boolean;
}

/**
 * Finds the groups in an hour's file, from an offset on. Other bytes before a group are damage, and are skipped. Other bytes after the last
 * group are an incomplete write.
 */
export async function findGroups(file: FileHandle, tier: Tier, hour: number, from = 0): Promise<FoundGroups> {
  const { size } = await file.stat();
  const groups: PlacedGroup[] = [];
  const damagedAt: number[] = [];
  let end = from;
  let at = from;
  while (at + GROUP_HEADER_BYTES <= size) {
    const header = decodeHeader(await readAt(file, at, GROUP_HEADER_BYTES), tier, hour);
    if (header === undefined) {
      const next = await findHeader(file, at + 1, size, tier, hour);
      if (next === undefined) break;
      damagedAt.push(at);
      at = next;
      continue;
    }
    const after = at + groupBytes(header);
    if (after > size) break;
    groups.push({ at, header });
    at = after;
    end = after;
  }
  return { groups, end, damagedAt, hasTail: end < size };
}

function groupBytes({ indexBytes, blocksBytes }: GroupHeader): number {
  return GROUP_HEADER_BYTES + indexBytes + blocksBytes;
}

async function findHeader(
  file: FileHandle,
  from: number,
  size: number,
  tier: Tier,
  hour: number,
): Promise<number | undefined> {
  for (let start = from; start + GROUP_HEADER_BYTES <= size; start += SEARCH_BYTES) {
    const bytes = await readAt(file, start, Math.min(SEARCH_BYTES + GROUP_HEADER_BYTES, size - start));
    for (let i = bytes.indexOf('TSPG'); i >= 0 && i < SEARCH_BYTES; i = bytes.indexOf('TSPG', i + 1))
      if (decodeHeader(bytes.subarray(i), tier, hour) !== undefined) return start + i;
  }
  return undefined;
}

/**
 * Appends a chunk to the file of its hour and flushes it. Overwrites an incomplete group at the end. Does nothing if the file already has
 * the chunk.
 * @returns the number of written bytes
 */
export async function appendChunk(folder: string, chunk: Chunk, tier: Tier): Promise<number> {
  const path = tierPath(folder, chunk.hour, tier);
  const file = await open(path, 'a+', 0o600).then(async (created) => {
    await created.close();
    return open(path, 'r+');
  });
  try {
    const { groups, end } = await findGroups(file, tier, chunk.hour);
    const same = groups.find(({ header }) => header.number === chunk.number);
    // A damaged group with groups after it was once written completely. It is not written again.
    if (same !== undefined && (same !== groups.at(-1) || (await isWhole(file, same)))) return 0;
    const start = same?.at ?? end;
    await file.truncate(start);
    let position = start;
    let waiting: Buffer[] = [];
    let waitingBytes = 0;
    const flush = async () => {
      const bytes = Buffer.concat(waiting);
      await writeAll(file, bytes, position);
      position += bytes.length;
      waiting = [];
      waitingBytes = 0;
    };
    for (const part of groupParts(chunk, tier)) {
      waiting.push(part);
      waitingBytes += part.length;
      if (waitingBytes >= PART_BYTES) await flush();
    }
    await flush();
    await file.datasync();
    return position - start;
  } finally {
    await file.close();
  }
}

async function isWhole(file: FileHandle, { at, header }: PlacedGroup): Promise<boolean> {
  const bytes = await readAt(file, at + GROUP_HEADER_BYTES, header.indexBytes + header.blocksBytes);
  const index = decodeIndex(bytes.subarray(0, header.indexBytes), header);
  if (index === undefined) return false;
  const blocks = bytes.subarray(header.indexBytes);
  for (const ofAsset of index.blocksOf.values())
    for (const block of ofAsset)
      if (crc32(blocks.subarray(block.at, block.at + block.bytes)) !== block.checksum) return false;
  return true;
}

/** @throws Error when the file ends before the last of the wanted bytes */
export async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  while (at < length) {
    const { bytesRead } = await file.read(bytes, at, length - at, position + at);
    if (bytesRead === 0) throw new Error('the file ends too early');
    at += bytesRead;
  }
  return bytes;
}

/** Returns the greatest group number in an hour's file; 0 without groups. */
export async function lastNumberOf(folder: string, hour: number): Promise<number> {
  const file = await open(tierPath(folder, hour, 'signatures'), 'r');
  try {
    const { groups } = await findGroups(file, 'signatures', hour);
    return groups.reduce((most, { header }) => Math.max(most, header.number), 0);
  } finally {
    await file.close();
  }
}
