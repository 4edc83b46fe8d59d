import type { LastSegment, LogEnd } from '../disk/disk_log.js';
import { listSegments, logFolderOf, SegmentReader } from '../disk/segment.js';
import { EntryState, type OnMinuteClosed } from './entry_state.js';
import { CLOSED_ENTRY } from './log_entries.js';
import { readSnapshot } from './state_snapshot.js';

/** The state of a data folder, and what a start found in its log. */
export interface OpenedState {
  readonly state: EntryState;
  readonly log: LogEnd;
  /** The number of the last segment whose entries were in the past and in the snapshot; 0 for a new folder. */
  readonly sealedSegment: number;
  /** Segments without entries that are not in the state: those of the snapshot, and one whose process was killed when it began. */
  readonly emptySegments: readonly number[];
  /** True if the last process wrote everything before it ended. */
  readonly isClean: boolean;
  /** The damage, each in one sentence. */
  readonly damage: readonly string[];
}

/** Reads the state of a data folder, also while another process writes to it. */
export class StateReader {
  readonly state: EntryState;
  readonly #dir: string;
  /** The last segment of the snapshot; `undefined` before the snapshot was read, and number 0 without one. */
  #reach: LastSegment | undefined;
  /** The segments after the snapshot, ascending. They stay open, so a removed one can be read to its end. */
  readonly #segments: SegmentReader[] = [];
  #lastEntry: string | undefined;

  /** @param onMinuteClosed called with the minutes that close in the segments */
  constructor(dir: string, onMinuteClosed: OnMinuteClosed) {
    this.#dir = dir;
    this.state = new EntryState(onMinuteClosed);
  }

  /**
   * Reads the snapshot and the segments after it, in turns of the event loop; a later call reads what was written since.
   * @throws Error with one sentence when the snapshot is damaged or the format is another one
   */
  async read(): Promise<void> {
    const folder = logFolderOf(this.#dir);
    this.#reach ??= (await readSnapshot(this.#dir, (entry) => this.state.apply(entry))) ?? {
      segment: 0,
      id: '',
    };
    // Only the newest segment can have grown.
    const newest = this.#segments.at(-1);
    if (newest !== undefined) await this.#readOne(newest);
    for (const number of listSegments(folder)) {
      if (number <= (newest?.number ?? this.#reach.segment)) continue;
      const segment = await SegmentReader.open(folder, number);
      if (segment === undefined) continue;
      this.#segments.push(segment);
      await this.#readOne(segment);
    }
  }

  /** Returns what was read. */
  finish(): OpenedState {
    const folder = logFolderOf(this.#dir);
    const reach = this.#reach!;
    const damage: string[] = [];
    const unsealed: LastSegment[] = [];
    let last = reach;
    for (const { number: segment, path, head, end, damage: own } of this.#segments) {
      damage.push(...own);
      if (head === undefined && end === 0) continue;
      if (head !== undefined && head.previous !== last.id)
        damage.push(
          `${path} does not follow ${last.segment === 0 ? 'a snapshot' : `segment ${last.segment}`}: what was between them is missing`,
        );
      last = { segment, id: head?.id ?? '' };
      unsealed.push(last);
    }
    // A segment always follows one that is in the snapshot.
    const isNewestMissing = reach.segment > 0 && unsealed.length === 0;
    if (isNewestMissing)
      damage.push(`${folder} has no segment after ${reach.segment}: the newest part of the log is missing`);
    // Times that were signed must never be signed again.
    if (damage.length > 0) this.state.keepGreatestMarks();
    const isClean = unsealed.length === 0 ? !isNewestMissing : this.#lastEntry === CLOSED_ENTRY;
    const emptySegments = listSegments(folder).filter(
      (one) => !unsealed.some(({ segment }) => segment === one),
    );
    const log = { last, unsealed };
    return { state: this.state, log, sealedSegment: reach.segment, emptySegments, isClean, damage };
  }

  /** Closes the files. */
  async close(): Promise<void> {
    for (const segment of this.#segments) await segment.close();
  }

  async #readOne(segment: SegmentReader): Promise<void> {
    await segment.refresh((lines) => {
      for (const line of lines) this.state.apply(line);
      this.#lastEntry = lines.at(-1);
    });
    if (segment.hasTail && segment.end > 0) this.#lastEntry = undefined;
  }
}

/** Reads the state of a data folder once. @throws Error like {@link StateReader.read} */
export async function readState(dir: string, onMinuteClosed: OnMinuteClosed): Promise<OpenedState> {
  const reader = new StateReader(dir, onMinuteClosed);
  try {
    await reader.read();
    return reader.finish();
  } finally {
    await reader.close();
  }
}
