import { existsSync } from 'node:fs';
import { createCalendars } from '../../calendar/calendars.js';
import type { Price } from '../../model/price.js';
import { type Clock, secondOf } from '../../model/time.js';
import { CandleBlock, toDouble } from '../../records/candle_block.js';
import { encodeCandles } from '../../records/candle_record.js';
import { openStore } from '../../store/store.js';
import { MARKET_CLOSED } from '../../wire/market_status_codes.js';
import { MINUTE_S } from '../../wire/resolution.js';
import type { DemoAsset } from './demo_catalogue.js';
import { createAssetWalk } from './walk.js';

const HOURS = 12;
const MINUTES_PER_HOUR = 60;
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
 * Fills a new store with simulated candles of the last twelve hours, because a new user should not see an empty chart. A minute in
 * which the market was closed has no candle. The last candle ends near the price at which the simulation starts.
 */
export async function writePastCandles({ storageDir, assets, clock }: PastCandlesOptions): Promise<void> {
  if (existsSync(storageDir) || assets.length === 0) return;
  const store = await openStore({ dir: storageDir, assets, candleRetentionMs: CANDLE_RETENTION_MS, clock });
  const { calendars } = createCalendars({});
  const endMinute = Math.floor(Number(secondOf(clock.nowNs())) / MINUTE_S);
  for (const asset of assets) {
    const calendar = calendars.get(asset.calendar);
    const isOpen = (minute: number) => calendar?.stateAt(minute * MINUTE_S).status !== MARKET_CLOSED;
    for (const [hour, block] of hoursBefore(endMinute, asset, isOpen))
      store.candles.addHour(asset, hour, new Uint8Array(encodeCandles(block)));
  }
  await store.close();
}

/** Makes the candles of each hour. The walk goes backward in time, because it must end where the live walk starts. */
function hoursBefore(
  endMinute: number,
  asset: DemoAsset,
  isOpen: (minute: number) => boolean,
): ReadonlyMap<number, CandleBlock> {
  const walk = createAssetWalk(asset, asset.id, STEP_FACTOR);
  const hours = new Map<number, CandleBlock>();
  let close = walk.quote();
  for (let minute = endMinute - 1; minute >= endMinute - HOURS * MINUTES_PER_HOUR; minute--) {
    const quotes = [close];
    for (let quote = 1; quote < QUOTES_PER_MINUTE; quote++) {
      walk.step();
      quotes.push(walk.quote());
    }
    const hour = Math.floor(minute / MINUTES_PER_HOUR);
    const block = hours.get(hour) ?? CandleBlock.withRoomFor(MINUTES_PER_HOUR);
    hours.set(hour, block);
    if (isOpen(minute)) put(block, minute - hour * MINUTES_PER_HOUR, quotes);
    close = quotes.at(-1)!;
  }
  return hours;
}

/** @param quotes in order, newest first */
function put(block: CandleBlock, slot: number, quotes: readonly bigint[]): void {
  const values = quotes.map((quote) => toDouble(quote as Price));
  block.put(slot, values.at(-1)!, Math.max(...values), Math.min(...values), values[0]!);
}
