import { isAscii } from 'node:buffer';
import { crc32, gunzipSync, gzipSync } from 'node:zlib';
import type { SignatureType } from '../../model/asset.js';
import { assetKeyOf, nameOfKey } from './past_entry.js';

/** The largest number of lines in a member. A member is read as a whole, which takes about a millisecond. */
export const MEMBER_LINES_MAX = 256;

/**
 * The head of a group: the entries of one segment of the log in the file of an hour. A file is a sequence of groups, and each part of a group
 * is a gzip member, so `zcat` reads a file: head, members, index. Positions count from the beginning of the file.
 */
export interface GroupHead {
  readonly group: 1;
  /** Such as `2026-11-24T01`. */
  readonly hour: string;
  readonly segment: number;
  /** The ID of the segment. */
  readonly id: string;
  /** The position of this head. */
  readonly at: number;
  /** The end of the members, where the index begins, and the end of the index. */
  readonly index: number;
  readonly end: number;
  /** The CRC-32 of the index. */
  readonly crc: number;
  /** The end of the group in the file of inputs. */
  readonly inputs: number;
  /** The times of the first and the last entry that is not a carried copy: digits; absent without such an entry. */
  readonly first?: string | undefined;
  readonly last?: string | undefined;
  /** The losses between the entries of this group, and before them. */
  readonly lost?: readonly LostTimes[] | undefined;
}

/** The times between which entries of all assets are lost: digits. Both times are lost too. */
export type LostTimes = readonly [from: string, to: string];

/** A member of lines of one asset. */
export interface Member {
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  readonly lines: number;
  /** The number of the carried copies, which are the first lines. */
  readonly carried: number;
  /** The number of the aggregates among the other lines. */
  readonly rows: number;
  readonly at: number;
  readonly bytes: number;
  readonly crc: number;
  /** The member of the file of inputs: position, size and CRC-32. */
  readonly inputs: readonly [at: number, bytes: number, crc: number];
}

/** A line of the index in JSON. */
interface IndexLine extends Omit<Member, 'firstNs' | 'lastNs'> {
  readonly member: string;
  readonly type: string;
  readonly first: string;
  readonly last: string;
}

/** The size of the text of a head, and of the head in a file. The head is not compressed. */
const HEAD_TEXT_BYTES = 320;
/** The bytes of an uncompressed gzip member before its text, and after it. */
const [BEFORE_TEXT, AFTER_TEXT] = [15, 8];
export const GROUP_HEAD_BYTES = BEFORE_TEXT + HEAD_TEXT_BYTES + AFTER_TEXT;
/** The beginning of the text of each head. */
const HEAD_FIRST = '{"group":1,';

export function encodeHead(head: GroupHead): Buffer {
  const text = JSON.stringify(head);
  const bytes = gzipSync(`${text.padEnd(HEAD_TEXT_BYTES - 1)}\n`, { level: 0 });
  if (bytes.length !== GROUP_HEAD_BYTES) throw new RangeError('the head of a group is too long');
  return bytes;
}

/** @returns `undefined` when the bytes are not a whole head */
export function decodeHead(bytes: Buffer): GroupHead | undefined {
  if (
    bytes.length !== GROUP_HEAD_BYTES ||
    !bytes.subarray(BEFORE_TEXT).toString('latin1').startsWith(HEAD_FIRST)
  )
    return undefined;
  const text = unzipped(bytes);
  // The size of a stored text, its checksum and the head of gzip are checked by comparing all bytes.
  return text !== undefined && gzipSync(text, { level: 0 }).equals(bytes)
    ? (JSON.parse(text.toString()) as GroupHead)
    : undefined;
}

/** Writes the times of a loss. */
export function timesOf({
  firstNs,
  lastNs,
}: {
  readonly firstNs: bigint;
  readonly lastNs: bigint;
}): LostTimes {
  return [String(firstNs), String(lastNs)];
}

/** Returns the positions at which a head may begin. */
export function* placesOfHeads(bytes: Buffer): Iterable<number> {
  for (let at = bytes.indexOf(HEAD_FIRST); at >= 0; at = bytes.indexOf(HEAD_FIRST, at + 1))
    if (at >= BEFORE_TEXT) yield at - BEFORE_TEXT;
}

/** Encodes the index of a group: a line for each member, in the order of the file. */
export function encodeIndex(
  membersOf: Iterable<readonly [assetKey: string, members: readonly Member[]]>,
): Buffer {
  const lines: string[] = [];
  for (const [assetKey, members] of membersOf) {
    const { symbol: member, signatureType: type } = nameOfKey(assetKey);
    for (const { firstNs, lastNs, ...rest } of members) {
      const line: IndexLine = { member, type, first: String(firstNs), last: String(lastNs), ...rest };
      lines.push(`${JSON.stringify(line)}\n`);
    }
  }
  return gzipSync(lines.join(''));
}

/** The members of a group by asset. */
export type MemberIndex = ReadonlyMap<string, readonly Member[]>;

/** @returns `undefined` when the bytes are damaged */
export function decodeIndex(bytes: Buffer, crc: number): MemberIndex | undefined {
  const text = crc32(bytes) === crc ? unzipped(bytes)?.toString() : undefined;
  if (text === undefined) return undefined;
  const membersOf = new Map<string, Member[]>();
  for (const one of text.split('\n')) {
    if (one === '') continue;
    const { member, type, first, last, ...rest } = JSON.parse(one) as IndexLine;
    const assetKey = assetKeyOf({ symbol: member, signatureType: type as SignatureType });
    const members = membersOf.get(assetKey) ?? [];
    if (members.length === 0) membersOf.set(assetKey, members);
    members.push({ firstNs: BigInt(first), lastNs: BigInt(last), ...rest });
  }
  return membersOf;
}

/** The lines of a member, which are unpacked at their first use. Counting rows does not need them. */
export class MemberLines {
  #bytes: Buffer | undefined;
  #lines: readonly string[] = [];

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** @returns `undefined` when the bytes are damaged */
  static of(bytes: Buffer, crc: number): MemberLines | undefined {
    return crc32(bytes) === crc ? new MemberLines(bytes) : undefined;
  }

  get all(): readonly string[] {
    if (this.#bytes === undefined) return this.#lines;
    const text = gunzipSync(this.#bytes);
    // Node takes five times as long for UTF-8.
    this.#lines = text
      .toString(isAscii(text) ? 'latin1' : 'utf8')
      .split('\n')
      .slice(0, -1);
    this.#bytes = undefined;
    return this.#lines;
  }
}

function unzipped(bytes: Buffer): Buffer | undefined {
  try {
    return gunzipSync(bytes);
  } catch {
    return undefined;
  }
}
