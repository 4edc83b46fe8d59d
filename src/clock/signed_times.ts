import { type Clock, NS_PER_SECOND, type TimeNs } from '../model/time.js';
import { AggregateTimes } from './aggregate_times.js';
import { markNumbers, StreamTimes } from './stream_times.js';
import type { MarkPlace } from './written_mark.js';

/** The marks on disk, by kind and number. */
export interface Marks {
  read(kind: string, number: number): TimeNs | undefined;
  write(kind: string, number: number, timeNs: TimeNs, onSettled: (isOnDisk: boolean) => void): void;
}

/** The two numbers of a signer of streaming payloads. No two signers have the same pair of numbers. */
export interface SignerPlace {
  readonly node: number;
  readonly thread: number;
}

const AGGREGATES = 'aggregates';
const STREAMS = 'streams';

/** The time after the last written second in which an older version, without marks, may have signed. */
const UNMARKED_NS = 2n * NS_PER_SECOND;

/**
 * Opens the times of aggregates. Resolves when the first mark is on disk, or when the write of the mark has failed. After a failed
 * write, nothing is signed until the mark is on disk.
 * @param newestSecond the newest UNIX second in the data folder
 */
export async function openAggregateTimes(
  clock: Clock,
  marks: Marks,
  newestSecond: number | undefined,
): Promise<AggregateTimes> {
  const place = placeOf(marks, AGGREGATES, 0);
  const times = new AggregateTimes(clock, place, unmarkedUpTo(place, newestSecond));
  await times.settled();
  return times;
}

/** Opens the times of streaming payloads like {@link openAggregateTimes}. */
export async function openStreamTimes(
  clock: Clock,
  marks: Marks,
  { node, thread }: SignerPlace,
): Promise<StreamTimes> {
  const times = new StreamTimes({ clock, node, thread, placeOf: (bits) => placeOf(marks, STREAMS, bits) });
  await times.settled();
  return times;
}

/** Returns the number and the time of each mark that {@link openStreamTimes} reads. */
export function streamMarks(marks: Marks, { node, thread }: SignerPlace): [number, TimeNs][] {
  return markNumbers(node, thread).flatMap((number) => {
    const timeNs = marks.read(STREAMS, number);
    return timeNs === undefined ? [] : [[number, timeNs]];
  });
}

/** Writes a mark of streaming payloads for another thread. */
export function writeStreamMark(
  marks: Marks,
  number: number,
  timeNs: bigint,
  onSettled: (isOnDisk: boolean) => void,
): void {
  marks.write(STREAMS, number, timeNs as TimeNs, onSettled);
}

function placeOf(marks: Marks, kind: string, number: number): MarkPlace {
  return {
    read: () => marks.read(kind, number),
    write: (timeNs, onSettled) => marks.write(kind, number, timeNs, onSettled),
  };
}

/**
 * Returns the time up to which a version without marks may have signed. If the folder's newest second is after the folder's mark, a
 * version without marks wrote to the folder last.
 */
function unmarkedUpTo({ read }: MarkPlace, newestSecond: number | undefined): bigint {
  if (newestSecond === undefined) return 0n;
  const secondNs = BigInt(newestSecond) * NS_PER_SECOND;
  return secondNs > (read() ?? 0n) ? secondNs + NS_PER_SECOND + UNMARKED_NS : 0n;
}
