import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { LastSegment } from '../disk/disk_log.js';
import { FORMAT_VERSION } from '../disk/segment.js';
import { replaceFile } from '../disk/written_file.js';
import type { Lost } from './entry_order.js';
import { type LostTimes, timesOf } from './hour_group.js';
import { hourName, parseHour } from './hour_paths.js';

/** Facts about an hour and its files. */
export interface ListedHour {
  readonly hour: number;
  /** The times of the first and the last entry that is not a carried copy; `undefined` without such an entry. */
  readonly firstNs: bigint | undefined;
  readonly lastNs: bigint | undefined;
  /** The sizes of the files. The files may be longer while a segment is being moved into them. */
  readonly bytes: number;
  /** 0 when inputs were never kept, or are no longer kept. */
  readonly inputsBytes: number;
  /** The CRC-32 of the heads of all groups. Each head, index and member has its own checksum, so this covers the whole file. */
  readonly crc: number;
  /** The losses between the entries of this hour, and before its first entry. */
  readonly losses: readonly Lost[];
}

/** The list of the hours. It is replaced as a whole when a segment of the log has been moved into the files. */
export interface HourList {
  /** The last segment of the log whose entries are in the files. */
  readonly last: LastSegment;
  /** The time from which entries of all assets are lost, up to the first entry of the next segment; `undefined` without a loss. */
  readonly lostFromNs?: bigint | undefined;
  /** Ascending. */
  readonly hours: readonly ListedHour[];
}

export const EMPTY_LIST: HourList = { last: { segment: 0, id: '' }, hours: [] };

interface ListHead {
  readonly format: number;
  readonly segment: number;
  readonly id: string;
  readonly lost?: string | undefined;
  /** The CRC-32 of the other fields and lines. */
  readonly crc: number;
}

interface HourLine {
  readonly hour: string;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly bytes: number;
  readonly inputs: number;
  readonly crc: number;
  readonly lost?: readonly LostTimes[] | undefined;
}

/** Thrown when the list cannot be read. */
export class DamagedList extends Error {
  override readonly name = 'DamagedList';
}

function listPath(folder: string): string {
  return join(folder, 'hours');
}

/** @returns `undefined` when there is no list @throws DamagedList when the list is not whole */
export function readHourList(folder: string): HourList | undefined {
  try {
    return parseList(readFileSync(listPath(folder), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (error instanceof DamagedList) throw new DamagedList(`${listPath(folder)} is damaged`);
    throw error;
  }
}

export async function writeHourList(folder: string, { last, lostFromNs, hours }: HourList): Promise<void> {
  const { segment, id } = last;
  const rest = hours.map((one) => `${JSON.stringify(lineOf(one))}\n`).join('');
  const head = { format: FORMAT_VERSION, segment, id, lost: lostFromNs?.toString() };
  const first = JSON.stringify({ ...head, crc: listChecksum(head, rest) } satisfies ListHead);
  await replaceFile(listPath(folder), [Buffer.from(`${first}\n`), Buffer.from(rest)]);
}

/** Reads the list of hours again when it has been replaced. */
export class FollowedHourList {
  readonly #folder: string;
  #version = '';
  #list: HourList | undefined = EMPTY_LIST;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @returns `undefined` when there is no list @throws DamagedList */
  read(): HourList | undefined {
    const found = statSync(listPath(this.#folder), { throwIfNoEntry: false });
    const version = found === undefined ? 'none' : `${found.ino} ${found.mtimeMs} ${found.size}`;
    if (version !== this.#version) {
      this.#version = '';
      this.#list = readHourList(this.#folder);
      this.#version = version;
    }
    return this.#list;
  }
}

function lineOf({ hour, firstNs, lastNs, bytes, inputsBytes, crc, losses }: ListedHour): HourLine {
  const [from, to] = [firstNs?.toString(), lastNs?.toString()];
  const lost = losses.length === 0 ? undefined : losses.map(timesOf);
  return { hour: hourName(hour), from, to, bytes, inputs: inputsBytes, crc, lost };
}

/** @throws DamagedList */
function parseList(text: string): HourList {
  const end = text.indexOf('\n');
  const rest = text.slice(end + 1);
  try {
    const { crc, ...head } = JSON.parse(text.slice(0, end)) as ListHead;
    if (crc !== listChecksum(head, rest)) throw new DamagedList();
    const { format, segment, id, lost } = head;
    if (format !== FORMAT_VERSION)
      throw new Error(
        `the list of hours has format ${format}, and this program reads format ${FORMAT_VERSION}: use the version of the program that made it`,
      );
    const hours = rest.split('\n').slice(0, -1).map(hourIn);
    return { last: { segment, id }, lostFromNs: lost === undefined ? undefined : BigInt(lost), hours };
  } catch (error) {
    throw error instanceof SyntaxError ? new DamagedList() : error;
  }
}

function listChecksum({ format, segment, id, lost }: Omit<ListHead, 'crc'>, rest: string): number {
  return crc32(rest, crc32(JSON.stringify([format, segment, id, lost ?? ''])));
}

function hourIn(text: string): ListedHour {
  const { hour, from, to, bytes, inputs, crc, lost = [] } = JSON.parse(text) as HourLine;
  return {
    hour: parseHour(hour),
    firstNs: from === undefined ? undefined : BigInt(from),
    lastNs: to === undefined ? undefined : BigInt(to),
    bytes,
    inputsBytes: inputs,
    crc,
    losses: lost.map(([first, last]) => ({ firstNs: BigInt(first), lastNs: BigInt(last) })),
  };
}
