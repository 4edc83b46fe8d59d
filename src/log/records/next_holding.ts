import type { Asset } from '../../model/asset.js';
import type { SignedAggregate } from '../../model/signed_price.js';
import { NS_PER_SECOND, type TimeNs } from '../../model/time.js';
import { toDouble } from './candle.js';
import { type Holding, type MinuteCandle, pricedHolding } from './holding.js';
import { type ShownFacts, writeAggregateLine } from './signed_line.js';

/**
 * Returns the holding of an aggregate that was just signed, with its line.
 *
 * Time never goes back in a series. After a step back of the clock, an aggregate receives the time of the newest aggregate. It is then the
 * last aggregate of that second and the close of that minute. Closed candles never change.
 * @param newest the asset's holding before this aggregate
 */
export function holdingOf(
  aggregate: SignedAggregate,
  shown: ShownFacts,
  newest: Holding | undefined,
): Holding {
  const timeNs = notBefore(newest, aggregate.signedAtNs);
  const minute = runningMinute(newest, minuteOf(timeNs), toDouble(aggregate.price));
  return pricedHolding(writeAggregateLine(aggregate, shown), timeNs, minute, aggregate);
}

/** Returns the record for the end of a price; `undefined` when the asset has no price. */
export function endingOf(atNs: TimeNs, newest: Holding | undefined): Holding | undefined {
  if (newest?.state !== 'priced') return undefined;
  return { state: 'ended', timeNs: notBefore(newest, atNs), minute: newest.minute };
}

/**
 * Returns the time at which a price ended while no process was running, because the inputs of its aggregate had become older than
 * `max_age`.
 */
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

/** Adds `price` to the running minute candle. The first price of a later minute begins a new candle. */
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

/** Returns whether a holding that arrives again is older than the newest holding. Several holdings may have the same time. */
export function isBefore(repeated: Holding, newest: Holding): boolean {
  if (repeated.timeNs !== newest.timeNs) return repeated.timeNs < newest.timeNs;
  return (repeated.minute?.minute ?? 0) < (newest.minute?.minute ?? 0);
}
