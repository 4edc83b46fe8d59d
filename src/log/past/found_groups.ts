import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { Lost } from './entry_order.js';
import { decodeHead, GROUP_HEAD_BYTES, type GroupHead, placesOfHeads } from './hour_group.js';
import type { ListedHour } from './hour_list.js';
import { hourName } from './hour_paths.js';

/** The size of the parts in which a file is searched for the next group after damage. */
const SEARCH_BYTES = 1024 * 1024;

/** The groups of an hour's file, and the times that damage has lost. */
export interface HourGroups {
  readonly groups: readonly GroupHead[];
  readonly damage: readonly Lost[];
}

/** Facts about an hour; `crc` is known only from a list of hours. */
export type KnownHour = Pick<ListedHour, 'hour' | 'bytes'> &
  Partial<Pick<ListedHour, 'firstNs' | 'lastNs' | 'crc'>>;

/**
 * Finds the groups of an hour in its file up to the listed size. What the list knows and the file does not have is damage: bytes between
 * groups, a shorter file, or groups that were never written there.
 * @returns `undefined` when the file is missing
 */
export async function findGroups(path: string, listed: KnownHour): Promise<HourGroups | undefined> {
  const file = await openIfThere(path);
  try {
    return file && (await walkGroups(file, path, listed));
  } finally {
    await file?.close();
  }
}

async function walkGroups(file: FileHandle, path: string, listed: KnownHour): Promise<HourGroups> {
  const { size } = await file.stat();
  const end = Math.min(size, listed.bytes);
  const walk = new GroupWalk(path, listed);
  for (let at = 0; at < end; ) {
    const bytes = await readUpTo(file, at, Math.min(GROUP_HEAD_BYTES, end - at));
    const next = headAt(bytes, at, listed, end) ?? (await findHead(file, at + 1, end, listed));
    if (next === undefined) break;
    walk.add(next, at);
    at = next.head.end;
  }
  return walk.end(size);
}

interface FoundHead {
  readonly head: GroupHead;
  readonly bytes: Buffer;
}

class GroupWalk {
  readonly #path: string;
  readonly #listed: KnownHour;
  readonly #groups: GroupHead[] = [];
  readonly #damage: Lost[] = [];
  #at = 0;
  #crc = 0;
  #lastNs: bigint | undefined;
  /** The position of the damage that follows the last group with times. */
  #damagedAt: number | undefined;

  constructor(path: string, listed: KnownHour) {
    this.#path = path;
    this.#listed = listed;
  }

  add({ head, bytes }: FoundHead, at: number): void {
    if (head.at > at) this.#damagedAt ??= at;
    this.#groups.push(head);
    this.#crc = crc32(bytes, this.#crc);
    this.#at = head.end;
    if (head.first === undefined) return;
    if (this.#damagedAt !== undefined)
      this.#noteLoss(`is damaged at byte ${this.#damagedAt}`, BigInt(head.first) - 1n);
    this.#damagedAt = undefined;
    this.#lastNs = BigInt(head.last!);
  }

  end(size: number): HourGroups {
    const { bytes, crc, lastNs = 0n } = this.#listed;
    if (size < bytes) this.#noteLoss(`has ${size} bytes instead of ${bytes}`, lastNs);
    else if (this.#at < bytes || this.#damagedAt !== undefined)
      this.#noteLoss(`is damaged at byte ${this.#damagedAt ?? this.#at}`, lastNs);
    else if (this.#damage.length === 0 && crc !== undefined && this.#crc !== crc) {
      // Whole groups of another file tell nothing about this hour.
      this.#lastNs = undefined;
      this.#groups.length = 0;
      this.#noteLoss('is another file', lastNs);
    }
    return { groups: this.#groups, damage: this.#damage };
  }

  /** Notes that entries up to a time are lost. Damage that loses no time may still lose the entries that were in force. */
  #noteLoss(words: string, lastNs: bigint): void {
    const firstNs = this.#lastNs === undefined ? (this.#listed.firstNs ?? lastNs) : this.#lastNs + 1n;
    const damage = `${this.#path} ${words}`;
    this.#damage.push({ firstNs, lastNs: lastNs < firstNs ? firstNs : lastNs, damage });
  }
}

function headAt(bytes: Buffer, at: number, { hour }: KnownHour, end: number): FoundHead | undefined {
  const head = decodeHead(bytes);
  const isHere = head?.at === at && head.hour === hourName(hour) && head.end <= end && head.index <= head.end;
  return isHere ? { head, bytes } : undefined;
}

async function findHead(
  file: FileHandle,
  from: number,
  end: number,
  listed: KnownHour,
): Promise<FoundHead | undefined> {
  for (let start = from; start < end; start += SEARCH_BYTES) {
    const bytes = await readUpTo(file, start, Math.min(SEARCH_BYTES + GROUP_HEAD_BYTES, end - start));
    for (const place of placesOfHeads(bytes)) {
      const found = headAt(bytes.subarray(place, place + GROUP_HEAD_BYTES), start + place, listed, end);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Reads a part of a file; fewer bytes at its end. @returns `undefined` when the file is missing */
export async function readPart(path: string, position: number, length: number): Promise<Buffer | undefined> {
  const file = await openIfThere(path);
  try {
    return file && (await readUpTo(file, position, length));
  } finally {
    await file?.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function readUpTo(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  while (at < length) {
    const { bytesRead } = await file.read(bytes, at, length - at, position + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return bytes.subarray(0, at);
}
