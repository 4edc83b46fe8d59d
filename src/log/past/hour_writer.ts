import { mkdirSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { LastSegment } from '../disk/disk_log.js';
import type { SegmentReader } from '../disk/segment.js';
import { WorkTurn } from '../disk/work_turn.js';
import type { EntryOrder, OrderedEntry } from './entry_order.js';
import { GroupWriter } from './group_writer.js';
import { EMPTY_LIST, type HourList, type ListedHour, writeHourList } from './hour_list.js';
import { type FileKind, hourOf, hourPath } from './hour_paths.js';
import { type HourFigures, type KeptTimes, removeOldFiles } from './kept_hours.js';
import { newestIn } from './newest_entries.js';
import { isAfter, type WrittenEntry } from './past_entry.js';
import { endDamage, orderAfter } from './past_log.js';
import { restoreHourList } from './restored_list.js';

export interface HourWriterOptions extends KeptTimes {
  readonly clock: { nowNs(): bigint };
  /** Returns the keys of the assets that each hour carries on. */
  readonly isConfigured: (assetKey: string) => boolean;
  /** True when entries come from the log of a cluster, which repeats some of them. */
  readonly hasRepeated: boolean;
  readonly logger?: { error(text: string): void } | undefined;
}

/** The largest number of damages that are remembered. */
const DAMAGE_MAX = 1_000;
/** The time after a start in which readers reconnect. */
const FIRST_CLEAN_NS = 5_000_000_000n;
const CLEAN_INTERVAL_NS = 60_000_000_000n;
/** The share of the largest size from which the log of the service warns. */
const WARNED_SHARE = 0.8;

/** The files with signed prices of the past, after the last removal of old files. `damage` is the damage since the start. */
export interface PastFigures extends HourFigures {
  /** The size above which the oldest hours are removed; `undefined` without a limit. */
  readonly bytesMax: number | undefined;
}

/**
 * Moves the segments of the log into the files of hours. A kill at any time leaves bytes after the listed end of a file at most; the segment is
 * then moved again, over these bytes.
 */
export class HourWriter {
  readonly #options: HourWriterOptions;
  #list: HourList = EMPTY_LIST;
  /** The newest entry of each asset in the files; `undefined` until the last hour has been read. */
  #newest: Map<string, WrittenEntry> | undefined;
  #working: Promise<void> = Promise.resolve();
  #cleanNs = 0n;
  #hasWarned = false;
  readonly #damage = new Set<string>();
  #figures: HourFigures = { bytes: 0, files: 0, oldestS: undefined, damage: [] };

  private constructor(options: HourWriterOptions) {
    this.#options = options;
  }

  /** Opens the folder of the past. A list of hours that cannot be read is made again from the files. */
  static async open(options: HourWriterOptions): Promise<HourWriter> {
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    const writer = new HourWriter(options);
    writer.#cleanNs = options.clock.nowNs() + FIRST_CLEAN_NS;
    writer.#list = await restoreHourList(options.folder, options.logger);
    return writer;
  }

  /** The last segment of the log whose entries are in the files. */
  get last(): LastSegment {
    return this.#list.last;
  }

  /** The damage that was found since the start, in words. */
  get damage(): readonly string[] {
    return [...this.#damage];
  }

  get figures(): PastFigures {
    return { ...this.#figures, damage: this.damage, bytesMax: this.#options.bytesMax };
  }

  /**
   * Moves the entries of a segment, which was just opened, into the files of their hours.
   * @throws Error (as a rejection) when the disk fails, or after the signal
   */
  seal(segment: SegmentReader, signal: AbortSignal): Promise<void> {
    return this.#afterEarlier(() => this.#sealSegment(segment, signal));
  }

  /** Removes the files whose retention time has ended, and looks for missing files. */
  clean(): Promise<void> {
    return this.#afterEarlier(async () => {
      const { list, figures } = await removeOldFiles(this.#options, this.#list, this.#options.clock.nowNs());
      this.#list = list;
      this.#figures = figures;
      this.#warnOfSize();
      for (const damage of figures.damage) this.notice(damage);
    });
  }

  /** Cleans from time to time. */
  tick(nowNs: bigint): void {
    if (nowNs < this.#cleanNs) return;
    this.#cleanNs = nowNs + CLEAN_INTERVAL_NS;
    void this.clean().catch((error: Error) =>
      this.#options.logger?.error(`the past cannot be cleaned: ${error.message}`),
    );
  }

  /** Notes damage of the past, which a read of another thread may have found. */
  notice(damage: string): void {
    if (this.#damage.has(damage) || this.#damage.size >= DAMAGE_MAX) return;
    this.#damage.add(damage);
    this.#options.logger?.error(`the past is damaged: ${damage}`);
  }

  /** Says once that the size comes near its limit. */
  #warnOfSize(): void {
    const { bytesMax, logger } = this.#options;
    const isNear = bytesMax !== undefined && this.#figures.bytes > bytesMax * WARNED_SHARE;
    if (isNear && !this.#hasWarned)
      logger?.error(
        `the past has ${this.#figures.bytes} bytes of storage.past.max_bytes (${bytesMax}): its oldest hours are removed at the limit`,
      );
    this.#hasWarned = isNear;
  }

  /** Works after the work of earlier calls. */
  #afterEarlier(work: () => Promise<void>): Promise<void> {
    const done = this.#working.then(work);
    this.#working = done.catch(() => {});
    return done;
  }

  async #sealSegment(segment: SegmentReader, signal: AbortSignal): Promise<void> {
    if (segment.number <= this.last.segment) return;
    const { folder, hasRepeated } = this.#options;
    const order = orderAfter(this.#list, hasRepeated);
    const before = this.#newest ?? (await newestIn(folder, this.#list, signal));
    const newest = new Map(before);
    const groups = await this.#groupsOf(segment, order, newest, signal);
    const hours = await this.#write(groups, signal);
    signal.throwIfAborted();
    const last = { segment: segment.number, id: segment.head?.id ?? '' };
    const list = { last, lostFromNs: order.lostFromNs, hours };
    await writeHourList(folder, list);
    this.#list = list;
    // A part of a text would keep the memory of its whole frame.
    for (const [assetKey, entry] of newest)
      if (entry !== before.get(assetKey))
        newest.set(assetKey, { ...entry, text: Buffer.from(entry.text).toString() });
    this.#newest = newest;
  }

  /** Reads a segment into groups. Changes the newest entries. */
  async #groupsOf(
    segment: SegmentReader,
    order: EntryOrder,
    newest: Map<string, WrittenEntry>,
    signal: AbortSignal,
  ): Promise<GroupWriter[]> {
    const groups: GroupWriter[] = [];
    const turn = new WorkTurn();
    let isFirst = true;
    await segment.refresh(async (lines, _place, damage) => {
      if (isFirst && segment.head?.previous !== this.last.id) order.lose();
      isFirst = false;
      if (damage !== undefined) this.#noteLoss(order, damage);
      for (const line of lines) {
        const next = order.next(line);
        if (next !== undefined) this.#addEntry(groups, segment, next, newest);
        if (!turn.isOver) continue;
        await turn.next();
        signal.throwIfAborted();
      }
    });
    if (segment.hasTail) this.#noteLoss(order, endDamage(segment));
    return groups;
  }

  #noteLoss(order: EntryOrder, damage: string): void {
    this.notice(damage);
    order.lose(damage);
  }

  #addEntry(
    groups: GroupWriter[],
    segment: SegmentReader,
    { entry, isCarried, isBeginning, lost }: OrderedEntry,
    newest: Map<string, WrittenEntry>,
  ): void {
    const known = newest.get(entry.assetKey);
    if (known !== undefined && !isAfter(entry, known)) return;
    if (isBeginning) for (const group of groups) group.carryAll();
    const lastHour = groups.at(-1)?.hour ?? this.#list.hours.at(-1)?.hour ?? 0;
    const hour = Math.max(hourOf(entry.timeNs), lastHour);
    let group = groups.at(-1);
    if (group?.hour !== hour) {
      group = new GroupWriter(hour, { segment: segment.number, id: segment.head?.id ?? '' });
      groups.push(group);
      // Each hour begins with a copy of the newest entries, so that a read needs no older file.
      if (hour > lastHour)
        for (const one of newest.values())
          if (one.kind !== 'ended' && this.#options.isConfigured(one.assetKey)) group.add(one, true);
    }
    if (lost !== undefined) group.lose(lost);
    group.add(entry, isCarried);
    newest.set(entry.assetKey, entry);
  }

  /** Writes the groups behind the listed ends of the files. @returns the hours of the next list */
  async #write(groups: readonly GroupWriter[], signal: AbortSignal): Promise<ListedHour[]> {
    const hours = [...this.#list.hours];
    for (const group of groups) {
      const last = hours.at(-1);
      const listed = last?.hour === group.hour ? last : newHour(group.hour);
      const lines = await openAt(this.#options.folder, listed, 'jsonl');
      const inputs = await openAt(this.#options.folder, listed, 'inputs');
      try {
        const next = await group.write(listed, lines, inputs, signal);
        await Promise.all([lines.datasync(), inputs.datasync()]);
        if (listed === last) hours.pop();
        hours.push(next);
      } finally {
        await Promise.all([lines.close(), inputs.close()]);
      }
    }
    return hours;
  }
}

function newHour(hour: number): ListedHour {
  return { hour, firstNs: undefined, lastNs: undefined, bytes: 0, inputsBytes: 0, crc: 0, losses: [] };
}

/** Opens a file of an hour and cuts what an interrupted write left behind its listed end. A shorter file stays shorter. */
async function openAt(
  folder: string,
  { hour, bytes, inputsBytes }: ListedHour,
  kind: FileKind,
): Promise<FileHandle> {
  const path = hourPath(folder, hour, kind);
  const file = await open(path, 'a+', 0o600).then(async (created) => {
    await created.close();
    return open(path, 'r+');
  });
  try {
    const size = kind === 'jsonl' ? bytes : inputsBytes;
    if ((await file.stat()).size > size) await file.truncate(size);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
