import { existsSync } from 'node:fs';
import { type NumberedCandle, toDouble } from '../../log/records/candle.js';
import { openStore } from '../../log/store/store.js';
import { createCalendars } from '../../model/calendar/calendars.js';
import type { Price } from '../../model/price.js';
import { type Clock, secondOf } from '../../model/time.js';
import { MARKET_CLOSED } from '../../wire/market_status_codes.js';
import { MINUTE_S } from '../../wire/resolution.js';
import type { DemoAsset } from './demo_catalogue.js';
import { createAssetWalk } from './walk.js';

/** The minutes of open markets that each asset receives. */
const MINUTES = 24 * 60;
/** The earliest minute, before now. No market of the demo is closed for longer. */
const MINUTES_AGO_MAX = 5 * 24 * 60;
const QUOTES_PER_MINUTE = 4;
/** The ratio of a past step to a live step. A past quote replaces several live quotes, so its step is larger. */
const STEP_FACTOR = 3n;
const CANDLE_RETENTION_MS = Number.MAX_SAFE_INTEGER;

export interface PastCandlesOptions {
  /** The folder of the demo's store. Only a new store receives candles. */
  readonly storageDir: string;
  /** The assets whose prices are simulated. */
  readonly assets: readonly DemoAsset[];
  readonly clock: Clock;
}

/**
 * Fills a new store with simulated candles of the last 24 hours in which the market was open, because a new user should not see an empty
 * chart. A minute in which the market was closed has no candle. The last candle ends near the price at which the simulation starts.
 */
export async function writePastCandles({ storageDir, assets, clock }: PastCandlesOptions): Promise<void> {
  if (existsSync(storageDir) || assets.length === 0) return;
  const store = await openStore({ dir: storageDir, assets, candleRetentionMs: CANDLE_RETENTION_MS, clock });
  const { calendars } = createCalendars({});
  const endMinute = Math.floor(Number(secondOf(clock.nowNs())) / MINUTE_S);
  for (const asset of assets) {
    const calendar = calendars.get(asset.calendar);
    const isOpen = (minute: number) => calendar?.stateAt(minute * MINUTE_S).status !== MARKET_CLOSED;
    await store.candles.add(asset, minutesBefore(endMinute, asset, isOpen));
  }
  await store.close();
}

/** Makes the candles, ascending. The walk goes backward in time, because it must end where the live walk starts. */
function minutesBefore(
  endMinute: number,
  asset: DemoAsset,
  isOpen: (minute: number) => boolean,
): NumberedCandle[] {
  const walk = createAssetWalk(asset, asset.id, STEP_FACTOR);
  const minutes: NumberedCandle[] = [];
  let close = walk.quote();
  for (let minute = endMinute - 1; minute >= endMinute - MINUTES_AGO_MAX; minute--) {
    if (minutes.length === MINUTES) break;
    if (!isOpen(minute)) continue;
    const quotes = [close];
    for (let quote = 1; quote < QUOTES_PER_MINUTE; quote++) {
      walk.step();
      quotes.push(walk.quote());
    }
    minutes.push(candleOf(minute, quotes));
    close = quotes.at(-1)!;
  }
  return minutes.reverse();
}

/** @param quotes in order, newest first */
function candleOf(number: number, quotes: readonly bigint[]): NumberedCandle {
  const values = quotes.map((quote) => toDouble(quote as Price));
  return {
    number,
    open: values.at(-1)!,
    high: Math.max(...values),
    low: Math.min(...values),
    close: values[0]!,
  };
}
