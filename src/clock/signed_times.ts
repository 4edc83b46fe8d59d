import { type Clock, NS_PER_SECOND, type TimeNs } from '../model/time.js';
import { AggregateTimes } from './aggregate_times.js';
import { StreamTimes } from './stream_times.js';
import type { MarkPlace } from './written_mark.js';

export interface SignedTimesOptions {
  readonly clock: Clock;
  /** Marks on disk, by kind and number. */
  readonly marks: {
    read(kind: string, number: number): TimeNs | undefined;
    write(kind: string, number: number, timeNs: TimeNs, onSettled: (isOnDisk: boolean) => void): void;
  };
  /** The newest UNIX second that the data folder has anything of. */
  readonly newestSecond: number | undefined;
  readonly node: number;
  readonly thread: number;
}

/** The times that this process signs with. */
export interface SignedTimes {
  readonly aggregates: AggregateTimes;
  readonly streams: StreamTimes;
}

/** What a version without marks may have signed past the last that it wrote. */
const UNMARKED_NS = 2n * NS_PER_SECOND;

/** Resolves when the first marks are on disk, or cannot be written: then nothing is signed until they are. */
export async function openSignedTimes(options: SignedTimesOptions): Promise<SignedTimes> {
  const { clock, marks, newestSecond, node, thread } = options;
  const placeOf = (kind: string, number: number): MarkPlace => ({
    read: () => marks.read(kind, number),
    write: (timeNs, onSettled) => marks.write(kind, number, timeNs, onSettled),
  });
  const aggregatePlace = placeOf('aggregates', 0);
  const aggregates = new AggregateTimes(clock, aggregatePlace, unmarkedUpTo(aggregatePlace, newestSecond));
  const streams = new StreamTimes({
    clock,
    node,
    thread,
    placeOf: (lowBits) => placeOf('streams', lowBits),
  });
  await Promise.all([aggregates.settled(), streams.settled()]);
  return { aggregates, streams };
}

/** A folder whose newest second is past its mark was last written by a version without marks. */
function unmarkedUpTo({ read }: MarkPlace, newestSecond: number | undefined): bigint {
  if (newestSecond === undefined) return 0n;
  const secondNs = BigInt(newestSecond) * NS_PER_SECOND;
  return secondNs > (read() ?? 0n) ? secondNs + NS_PER_SECOND + UNMARKED_NS : 0n;
}
