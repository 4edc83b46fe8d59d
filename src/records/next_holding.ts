import type { Asset } from '../model/asset.js';
import type { SignedAggregate } from '../model/signed_price.js';
import { NS_PER_SECOND, type TimeNs } from '../model/time.js';
import { toDouble } from './candle_block.js';
import type { Holding, MinuteCandle } from './second_record.js';

/**
 * The record of an aggregate.
 *
 * Time never goes back in a series. After the clock was set back, an aggregate counts at the time of the newest one: it is
 * the last of that second and the close of that minute. Closed candles never change.
 * @param newest the asset's holding before it
 */
export function holdingOf(aggregate: SignedAggregate, newest: Holding | undefined): Holding {
  const timeNs = notBefore(newest, aggregate.signedAtNs);
  const minute = runningMinute(newest, minuteOf(timeNs), toDouble(aggregate.price));
  return { state: 'priced', timeNs, minute, aggregate };
}

/** The record of the end of a price; `undefined` when there is no price that could end. */
export function endingOf(atNs: TimeNs, newest: Holding | undefined): Holding | undefined {
  if (newest?.state !== 'priced') return undefined;
  return { state: 'ended', timeNs: notBefore(newest, atNs), minute: newest.minute };
}

/** The time at which the last aggregate of an ended price lost its inputs to `max_age`, while no process was there to see it. */
export function endOf(
  { inputs }: SignedAggregate,
  { minPublishers, maxAgeNs }: Asset,
  nowNs: TimeNs,
): TimeNs {
  const newestFirst = inputs.map(({ timestampNs }) => timestampNs).sort((a, b) => (a < b ? 1 : -1));
  const lastNeeded = newestFirst[minPublishers - 1] ?? newestFirst.at(-1)!;
  const endNs = lastNeeded + maxAgeNs + 1n;
  return (endNs < nowNs ? endNs : nowNs) as TimeNs;
}

function notBefore(newest: Holding | undefined, timeNs: TimeNs): TimeNs {
  const newestNs = newest?.timeNs;
  return newestNs !== undefined && newestNs > timeNs ? newestNs : timeNs;
}

function minuteOf(timeNs: TimeNs): number {
  return Math.floor(Number(timeNs / NS_PER_SECOND) / 60);
}

/** The running minute candle after `price`, which opens a new one when it is the first of a later minute. */
function runningMinute(newest: Holding | undefined, minute: number, price: number): MinuteCandle {
  const running = newest?.minute;
  if (running?.minute !== minute) return { minute, open: price, high: price, low: price, close: price };
  return {
    minute,
    open: running.open,
    high: Math.max(running.high, price),
    low: Math.min(running.low, price),
    close: price,
  };
}
