import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { LastSegment } from '../disk/disk_log.js';
import { writeAll } from '../disk/written_file.js';
import type { Lost } from './entry_order.js';
import { encodeHead, encodeIndex, GROUP_HEAD_BYTES, type Member, timesOf } from './hour_group.js';
import type { ListedHour } from './hour_list.js';
import { hourName } from './hour_paths.js';
import { MemberWriter } from './member_writer.js';
import type { WrittenEntry } from './past_entry.js';

/** Collects the entries of a segment that belong to one hour, and writes them as a group. */
export class GroupWriter {
  readonly hour: number;
  readonly #segment: LastSegment;
  readonly #losses: Lost[] = [];
  readonly #writers = new Map<string, MemberWriter>();
  /** The times of the first and the last entry that is not a carried copy. */
  #firstNs: bigint | undefined;
  #lastNs: bigint | undefined;

  constructor(hour: number, segment: LastSegment) {
    this.hour = hour;
    this.#segment = segment;
  }

  add(entry: WrittenEntry, isCarried: boolean): void {
    const { assetKey, timeNs } = entry;
    let writer = this.#writers.get(assetKey);
    if (writer === undefined) {
      writer = new MemberWriter();
      this.#writers.set(assetKey, writer);
    }
    writer.add(entry, isCarried);
    if (isCarried) return;
    if (this.#firstNs === undefined || timeNs < this.#firstNs) this.#firstNs = timeNs;
    if (this.#lastNs === undefined || timeNs > this.#lastNs) this.#lastNs = timeNs;
  }

  lose(lost: Lost): void {
    this.#losses.push(lost);
  }

  /** Turns all entries so far into carried copies. */
  carryAll(): void {
    for (const writer of this.#writers.values()) writer.carryAll();
    this.#firstNs = undefined;
    this.#lastNs = undefined;
  }

  /**
   * Writes the group after the listed end of its hour's files.
   * @returns what the list of hours has to say about the hour afterwards
   */
  async write(
    listed: ListedHour,
    lines: FileHandle,
    inputs: FileHandle,
    signal: AbortSignal,
  ): Promise<ListedHour> {
    const membersOf: [string, Member[]][] = [];
    let [at, inputsAt] = [listed.bytes + GROUP_HEAD_BYTES, listed.inputsBytes];
    for (const [assetKey, writer] of [...this.#writers].sort(([a], [b]) => (a < b ? -1 : 1))) {
      signal.throwIfAborted();
      const members: Member[] = [];
      for (const { text, inputs: bytes, ...rest } of await writer.take()) {
        await writeAll(lines, text, at);
        await writeAll(inputs, bytes, inputsAt);
        const of = [inputsAt, bytes.length, crc32(bytes)] as const;
        members.push({ ...rest, at, bytes: text.length, crc: crc32(text), inputs: of });
        at += text.length;
        inputsAt += bytes.length;
      }
      membersOf.push([assetKey, members]);
    }
    const index = encodeIndex(membersOf);
    await writeAll(lines, index, at);
    const head = encodeHead({
      group: 1,
      hour: hourName(this.hour),
      segment: this.#segment.segment,
      id: this.#segment.id,
      at: listed.bytes,
      index: at,
      end: at + index.length,
      crc: crc32(index),
      first: this.#firstNs?.toString(),
      last: this.#lastNs?.toString(),
      inputs: inputsAt,
      lost: this.#losses.map(timesOf),
    });
    await writeAll(lines, head, listed.bytes);
    return {
      hour: this.hour,
      firstNs: lesser(listed.firstNs, this.#firstNs),
      lastNs: greater(listed.lastNs, this.#lastNs),
      bytes: at + index.length,
      inputsBytes: inputsAt,
      crc: crc32(head, listed.crc),
      losses: [...listed.losses, ...this.#losses],
    };
  }
}

function lesser(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a;
}

function greater(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || (b !== undefined && b > a) ? b : a;
}
