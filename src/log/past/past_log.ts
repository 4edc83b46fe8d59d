import type { LastSegment } from '../disk/disk_log.js';
import type { FramePlace } from '../disk/log_frame.js';
import { listSegments, type SegmentHead, SegmentReader } from '../disk/segment.js';
import { EntryOrder, type Lost } from './entry_order.js';
import { MEMBER_LINES_MAX } from './hour_group.js';
import { EMPTY_LIST, type HourList } from './hour_list.js';
import type { LineBlock, LinePlace } from './hour_reader.js';
import { withoutInputs } from './kept_line.js';
import { LostRange, PastChanged } from './lost_range.js';
import { type EntryMoment, entryOf, isAfter } from './past_entry.js';

/** The places of an asset's entries in a segment, ascending by time. The texts stay on disk. */
interface AssetPlaces {
  readonly timesNs: bigint[];
  /** The number of the frame, and the line in the frame. */
  readonly frames: number[];
  readonly lines: number[];
  readonly isCarried: boolean[];
  newest: EntryMoment | undefined;
}

/** A segment of the log that is not in the files of hours yet. */
class RunningSegment {
  readonly losses: Lost[] = [];
  firstNs: bigint | undefined;
  lastNs: bigint | undefined;
  readonly #reader: SegmentReader;
  readonly #frames: FramePlace[] = [];
  readonly #places = new Map<string, AssetPlaces>();
  #isClosed = false;
  #isEnded = false;

  constructor(reader: SegmentReader) {
    this.#reader = reader;
  }

  get head(): SegmentReader['head'] {
    return this.#reader.head;
  }

  /** Notes that another segment follows. Bytes after the last whole frame are then damage. */
  end(order: EntryOrder): void {
    if (!this.#isEnded && this.#reader.hasTail) order.lose(endDamage(this.#reader));
    this.#isEnded = true;
  }

  /** @param onHead called once, before the first entry, with the head; without it when the head is damaged */
  async refresh(order: EntryOrder, onHead: (head: SegmentHead | undefined) => void): Promise<void> {
    await this.#reader.refresh((lines, place, damage) => {
      if (this.#frames.length === 0) onHead(this.#reader.head);
      if (damage !== undefined) order.lose(damage);
      this.#frames.push(place);
      for (const [i, line] of lines.entries()) this.#add(order, line, i);
    });
  }

  #add(order: EntryOrder, text: string, line: number): void {
    const next = order.next(text);
    if (next === undefined) return;
    const { entry, isCarried, isBeginning, lost } = next;
    if (isBeginning) this.#carryAll();
    if (lost !== undefined) this.losses.push(lost);
    const places = this.#placesOf(entry.assetKey);
    if (places.newest !== undefined && !isAfter(entry, places.newest)) return;
    places.newest = { kind: entry.kind, timeNs: entry.timeNs };
    places.timesNs.push(entry.timeNs);
    places.frames.push(this.#frames.length - 1);
    places.lines.push(line);
    places.isCarried.push(isCarried);
    if (isCarried) return;
    this.firstNs ??= entry.timeNs;
    this.lastNs = entry.timeNs;
  }

  #carryAll(): void {
    for (const { isCarried } of this.#places.values()) isCarried.fill(true);
    this.firstNs = undefined;
    this.lastNs = undefined;
  }

  #placesOf(assetKey: string): AssetPlaces {
    let places = this.#places.get(assetKey);
    if (places === undefined) {
      places = { timesNs: [], frames: [], lines: [], isCarried: [], newest: undefined };
      this.#places.set(assetKey, places);
    }
    return places;
  }

  blocks(assetKey: string): readonly LinePlace[] {
    const places = this.#places.get(assetKey);
    if (places === undefined) return [];
    const blocks: LinePlace[] = [];
    for (let from = 0; from < places.timesNs.length; from += MEMBER_LINES_MAX) {
      const to = Math.min(from + MEMBER_LINES_MAX, places.timesNs.length);
      const [firstNs, lastNs] = [places.timesNs[from]!, places.timesNs[to - 1]!];
      blocks.push({ firstNs, lastNs, read: (withInputs) => this.#readEntries(places, from, to, withInputs) });
    }
    return blocks;
  }

  async #readEntries(places: AssetPlaces, from: number, to: number, withInputs: boolean): Promise<LineBlock> {
    const texts: string[] = [];
    let [frame, lines]: [number, string[]] = [-1, []];
    for (let i = from; i < to; i++) {
      if (places.frames[i] !== frame) {
        frame = places.frames[i]!;
        lines = await this.#readFrame(frame, places.timesNs[from]!, places.timesNs[to - 1]!);
      }
      texts.push(lines[places.lines[i]!]!);
    }
    const entry = (index: number) => {
      const text = texts[index]!;
      const [isCarried, timeNs] = [places.isCarried[from + index]!, places.timesNs[from + index]!];
      const found = entryOf(text, isCarried, timeNs);
      return withInputs || found.kind !== 'priced' ? found : { ...found, line: withoutInputs(found.line) };
    };
    return {
      firstNs: places.timesNs[from]!,
      lastNs: places.timesNs[to - 1]!,
      length: texts.length,
      bytes: texts.length * texts[0]!.length,
      rows: undefined,
      timeNs: (index) => places.timesNs[from + index]!,
      isCarried: (index) => places.isCarried[from + index]!,
      bareEntry: entry,
      entry,
    };
  }

  async #readFrame(number: number, firstNs: bigint, lastNs: bigint): Promise<string[]> {
    try {
      return await this.#reader.read(this.#frames[number]!);
    } catch (error) {
      if (this.#isClosed) throw new PastChanged();
      throw new LostRange({ firstNs, lastNs, damage: (error as Error).message });
    }
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#reader.close();
  }
}

/** The past at one moment: the list of hours, and the segments of the log whose entries are not in the hours. */
export interface PastMoment {
  readonly list: HourList;
  /** Oldest first. */
  readonly segments: readonly RunningSegment[];
  /** The time from which entries of all assets are lost, when no aggregate has followed yet. */
  readonly lostFromNs: bigint | undefined;
}

/** Follows the segments of the log that are not in the files of hours yet. */
export class PastLog {
  readonly #folder: string;
  readonly #hasRepeated: boolean;
  /** The open segments by number, ascending. */
  readonly #open = new Map<number, RunningSegment>();
  #order: EntryOrder | undefined;
  /** The last segment that the order has read; its ID is empty while it is not known. */
  #last: LastSegment = EMPTY_LIST.last;
  #refreshing: Promise<unknown> = Promise.resolve();

  /** @param hasRepeated see {@link EntryOrder} */
  constructor(folder: string, hasRepeated: boolean) {
    this.#folder = folder;
    this.#hasRepeated = hasRepeated;
  }

  /**
   * Reads what the log has now. Calls after one another.
   * @param readList reads the list of hours. The list is read after the names of the segments, because a segment is removed only when the
   * list has it
   */
  refresh(readList: () => HourList): Promise<PastMoment> {
    const refreshed = this.#refreshing.then(() => this.#refresh(readList));
    this.#refreshing = refreshed.catch(() => {});
    return refreshed;
  }

  async #refresh(readList: () => HourList): Promise<PastMoment> {
    for (const number of listSegments(this.#folder)) {
      if (this.#open.has(number)) continue;
      const reader = await SegmentReader.open(this.#folder, number);
      if (reader !== undefined) this.#open.set(number, new RunningSegment(reader));
    }
    const list = readList();
    for (const [number, segment] of this.#open) {
      if (number > list.last.segment) continue;
      this.#open.delete(number);
      await segment.close();
    }
    if (this.#order === undefined || this.#last.segment < list.last.segment) {
      this.#order = orderAfter(list, this.#hasRepeated);
      this.#last = list.last;
    }
    await this.#read(this.#order);
    return { list, segments: [...this.#open.values()], lostFromNs: this.#order.lostFromNs };
  }

  async #read(order: EntryOrder): Promise<void> {
    let before: RunningSegment | undefined;
    for (const [number, segment] of this.#open) {
      before?.end(order);
      before = segment;
      if (number < this.#last.segment) continue;
      const isNext = number > this.#last.segment;
      await segment.refresh(order, (head) => {
        if (isNext && head?.previous !== this.#last.id) order.lose();
      });
      this.#last = { segment: number, id: segment.head?.id ?? '' };
    }
  }

  async close(): Promise<void> {
    await this.#refreshing;
    await Promise.all([...this.#open.values()].map((segment) => segment.close()));
    this.#open.clear();
  }
}

/** Returns the damage of bytes after the last whole frame of a segment, in words. */
export function endDamage({ damage, path, end }: SegmentReader): string {
  return end === 0 && damage.length > 0 ? damage[0]! : `the end of ${path} is damaged`;
}

/** Begins the order of the entries after the files of hours. */
export function orderAfter({ hours, lostFromNs }: HourList, hasRepeated: boolean): EntryOrder {
  const latestNs = hours.reduce((most, { lastNs = 0n }) => (lastNs > most ? lastNs : most), 0n);
  return new EntryOrder({ hasRepeated, latestNs, lostFromNs });
}
