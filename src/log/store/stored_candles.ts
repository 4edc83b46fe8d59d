import type { AssetName } from '../../model/asset_map.js';
import { decodeCandles, encodeCandles, type NumberedCandle } from '../records/candle.js';
import { perDay } from './candle_rows.js';
import type { EntryState } from './entry_state.js';
import type { KeptCandles } from './kept_candles.js';

const MINUTES_PER_HOUR = 60;

/** Candles as records that another store can use. Minutes, hours and days are counted since 1970. */
export interface StoredCandles {
  /** Returns the closed minutes of an hour; `undefined` without such minutes. */
  hour(asset: AssetName, hour: number): Uint8Array | undefined;
  /** Returns the closed minutes of a day; `undefined` without such minutes. */
  day(asset: AssetName, day: number): Uint8Array | undefined;
  /**
   * Closes all running minutes, because this store lacks the records that follow these minutes. The caller must call this method
   * before it adds hours and days. A later record of the same minute continues the minute.
   */
  closeRunning(): void;
  /**
   * Adds the closed minutes of another store. These minutes replace existing minutes. The store may then record the same minutes
   * again.
   * @throws RangeError (as a rejection) when no store made the record
   */
  addHour(asset: AssetName, hour: number, record: Uint8Array): Promise<void>;
  addDay(asset: AssetName, day: number, record: Uint8Array): Promise<void>;
  /** Adds closed minutes, ascending. */
  add(asset: AssetName, minutes: readonly NumberedCandle[]): Promise<void>;
  /** Flushes the added minutes to the disk. */
  sync(): Promise<void>;
}

/** @param closeMinute closes the running minute of an asset */
export function storedCandles(
  state: Pick<EntryState, 'assets' | 'newest'>,
  candles: KeptCandles,
  closeMinute: (asset: AssetName) => void,
): StoredCandles {
  function block(asset: AssetName, first: number, length: number): Uint8Array | undefined {
    const minutes: NumberedCandle[] = [];
    const running = state.newest(asset)?.minute?.minute;
    candles.reader.minutes(asset, first, first + length, (number, open, high, low, close) => {
      if (number !== running) minutes.push({ number, open, high, low, close });
    });
    return minutes.length === 0 ? undefined : encodeCandles(minutes, first);
  }
  async function add(asset: AssetName, first: number, length: number, record: Uint8Array): Promise<void> {
    await candles.add(asset, decodeCandles(record, first, length));
  }
  const ofHour = (hour: number) => [hour * MINUTES_PER_HOUR, MINUTES_PER_HOUR] as const;
  const ofDay = (day: number) => [day * perDay('minute'), perDay('minute')] as const;
  return {
    hour: (asset, hour) => block(asset, ...ofHour(hour)),
    day: (asset, day) => block(asset, ...ofDay(day)),
    closeRunning() {
      for (const { asset } of state.assets.values()) closeMinute(asset);
    },
    addHour: (asset, hour, record) => add(asset, ...ofHour(hour), record),
    addDay: (asset, day, record) => add(asset, ...ofDay(day), record),
    add: (asset, minutes) => candles.add(asset, minutes),
    sync: () => candles.sync(),
  };
}
