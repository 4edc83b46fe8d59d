import type { LogEnd } from '../log/disk_log.js';
import { listSegments, logFolderOf, SegmentReader } from '../log/segment.js';
import { EntryState, type OnMinuteClosed } from './entry_state.js';
import { CLOSED_ENTRY } from './log_entries.js';
import { readSnapshot } from './state_snapshot.js';

/** The state of a data folder, and what a start found in its log. */
export interface OpenedState {
  readonly state: EntryState;
  readonly log: LogEnd;
  /** Segments without entries that are not in the state: those of the snapshot, and one whose process was killed when it began. */
  readonly emptySegments: readonly number[];
  /** True if the last process wrote everything before it ended. */
  readonly isClean: boolean;
  /** The damage, each in one sentence. */
  readonly damage: readonly string[];
}

/**
 * Reads the snapshot and the segments after it, in turns of the event loop.
 * @param onMinuteClosed called with the minutes that close in these segments
 * @throws Error with one sentence when the snapshot is damaged or the format is another one
 */
export async function readState(dir: string, onMinuteClosed: OnMinuteClosed): Promise<OpenedState> {
  const state = new EntryState(onMinuteClosed);
  const reach = await readSnapshot(dir, (entry) => state.apply(entry));
  const folder = logFolderOf(dir);
  const damage: string[] = [];
  const unsealed = [];
  const emptySegments = [];
  let last = reach ?? { segment: 0, id: '' };
  let lastEntry: string | undefined;
  for (const segment of listSegments(folder)) {
    const reader = segment > (reach?.segment ?? 0) ? await SegmentReader.open(folder, segment) : undefined;
    if (reader === undefined) {
      emptySegments.push(segment);
      continue;
    }
    try {
      await reader.refresh((lines) => {
        for (const line of lines) state.apply(line);
        lastEntry = lines.at(-1);
      });
    } finally {
      await reader.close();
    }
    const { head, end } = reader;
    damage.push(...reader.damage);
    if (head === undefined && end === 0) {
      emptySegments.push(segment);
      continue;
    }
    if (head !== undefined && head.previous !== last.id)
      damage.push(
        `${reader.path} does not follow ${last.segment === 0 ? 'a snapshot' : `segment ${last.segment}`}: what was between them is missing`,
      );
    if (reader.hasTail) lastEntry = undefined;
    last = { segment, id: head?.id ?? '' };
    unsealed.push(last);
  }
  if (reach !== undefined && unsealed.length === 0)
    damage.push(`${folder} has no segment after ${reach.segment}: the newest part of the log is missing`);
  // Times that were signed must never be signed again.
  if (damage.length > 0) state.keepGreatestMarks();
  const isClean = lastEntry === undefined ? unsealed.length === 0 : lastEntry === CLOSED_ENTRY;
  return { state, log: { last, unsealed }, emptySegments, isClean, damage };
}
