import type { AssetName } from '../../model/asset_map.js';
import type { CandleValues } from '../records/candle.js';
import type { Holding } from '../records/holding.js';
import { CandleFiles } from './candle_files.js';
import { CandleReader } from './candle_reader.js';
import { candleFolderName } from './candle_rows.js';
import { candlesFolderOf } from './kept_candles.js';
import type { StoreReader } from './reader.js';

/**
 * The closed minutes of an asset that stay in memory: those of the last minutes, and the last ones. The writing thread writes a closed
 * minute within a fraction of a second, or later while the disk fails.
 */
const KEPT_MINUTES = 16;
const KEPT_COUNT_MIN = 2;

/**
 * The store of a thread that only serves. The newest states come from the writing thread, and candles from the files. Between
 * {@link behind} and {@link load}, reads of candles throw {@link NotLoaded}.
 */
export interface Follower extends StoreReader {
  /** Receives a record of the writing thread. */
  recorded(asset: AssetName, holding: Holding): void;
  /** Drops everything, because this thread has fallen behind, and receives the newest states. */
  behind(newest: Iterable<{ readonly asset: AssetName; readonly holding: Holding | undefined }>): void;
  /** Notes that the files have every minute that had begun at the call of {@link behind}. */
  load(): void;
}

/** The error of a read while the files may lack candles that this thread missed. */
export class NotLoaded extends Error {
  override readonly name = 'NotLoaded';
}

interface FollowedAsset {
  newest: Holding | undefined;
  readonly closed: Map<number, CandleValues>;
}

/** @param onDamage called with damage that a read finds, in one sentence */
export function openFollower(dir: string, onDamage: (reason: string) => void): Follower {
  const assets = new Map<string, FollowedAsset>();
  let isLoaded = false;

  function of(asset: AssetName): FollowedAsset {
    const key = candleFolderName(asset);
    let followed = assets.get(key);
    if (followed === undefined) {
      followed = { newest: undefined, closed: new Map() };
      assets.set(key, followed);
    }
    return followed;
  }

  const candles = new CandleReader(new CandleFiles(candlesFolderOf(dir), onDamage), (asset) => {
    const { closed, newest } = of(asset);
    return { closed, running: newest?.minute };
  });

  function read<T>(from: (reader: CandleReader) => T): T {
    if (!isLoaded) throw new NotLoaded('the stored prices are being read again');
    return from(candles);
  }

  return {
    recorded(asset, holding) {
      const followed = of(asset);
      const running = followed.newest?.minute;
      followed.newest = holding;
      if (running === undefined || holding.minute === undefined || running.minute === holding.minute.minute)
        return;
      followed.closed.set(running.minute, running);
      for (const minute of followed.closed.keys()) {
        if (followed.closed.size <= KEPT_COUNT_MIN || minute >= running.minute - KEPT_MINUTES) break;
        followed.closed.delete(minute);
      }
    },
    behind(newest) {
      isLoaded = false;
      assets.clear();
      for (const { asset, holding } of newest) of(asset).newest = holding;
    },
    load() {
      isLoaded = true;
      candles.changed();
    },
    newest: (asset) => of(asset).newest,
    history: (asset, resolution, fromS, toS, candlesMax) =>
      read((reader) => reader.history(asset, { resolution, fromS, toS, candlesMax })),
    candleDays: (asset) => read((reader) => reader.candleDays(asset)),
    sealedDays: (asset) => read((reader) => reader.sealedDays(asset)),
  };
}
