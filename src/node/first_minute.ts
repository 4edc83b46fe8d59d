import type { Bus } from '../cluster/bus.js';
import { decodeLogBatch } from '../cluster/log/log_batch.js';
import { type Clock, NS_PER_SECOND } from '../model/time.js';
import { openHolding } from '../records/second_record.js';

/** Returns the minute since 1970 of the first aggregate in the log, or the present minute if the log has none. */
export async function firstMinuteOf(
  bus: Pick<Bus, 'read'>,
  firstSequence: number,
  clock: Clock,
): Promise<number> {
  const minuteOf = (timeNs: bigint) => Number(timeNs / (60n * NS_PER_SECOND));
  for (let after = firstSequence - 1; ; ) {
    const records = await bus.read(after);
    for (const { sequence, bytes } of records) {
      after = sequence;
      const entry = decodeLogBatch(bytes).entries.find(({ publisherKey }) => publisherKey === undefined);
      if (entry !== undefined) return minuteOf(openHolding(entry.bytes, entry.symbol).timeNs);
    }
    if (records.length === 0) return minuteOf(clock.nowNs());
  }
}
