import { ok } from 'node:assert/strict';
import type { Asset, Publisher } from '../model/asset.js';
import type { PublisherPrice, SignedAggregate } from '../model/signed_price.js';
import { type Clock, NS_PER_MS, NS_PER_SECOND, type TimeNs } from '../model/time.js';
import { DamagedRecord, unwrapRecord } from '../records/envelope.js';
import { indexRecordNames, UNKNOWN_PUBLISHER } from '../records/record_names.js';
import { type Candles, readHistory } from './history.js';
import { type Cutoffs, type Days, runHousekeeping, sealedDays } from './housekeeping.js';
import { openJournal, type Table } from './journal.js';
import { type Folder, openFolder } from './lmdb/folder.js';
import { DAY_S, type Resolution } from './resolution.js';
import { recordAggregate, recordEnd, secondInForce } from './series.js';
import { loadSeries } from './series_index.js';
import { openTables } from './tables.js';

/** How far back `recent` reaches: 10 minutes, and one more for clocks that differ. */
const RECENT_WINDOW_S = 600;
const RECENT_SLACK_S = 60;

/** Everything that the service stores: signed aggregates, their candles, and the publishers' latest inputs. */
export interface Store {
  /** Records the next aggregate, in signing order. This changes only memory; a group commit writes it soon after. */
  append(aggregate: SignedAggregate): void;
  /** Records that the asset has no live price from `atNs` on, until its next aggregate. */
  ended(asset: Asset, atNs: TimeNs): void;
  /** Records the latest accepted input of a publisher for an asset; both must be configured. */
  putInput(input: PublisherPrice): void;
  /**
   * Resolves when everything recorded before this call has been flushed to the disk.
   * @throws Error (as a rejection) with the reason while the disk fails.
   */
  durable(): Promise<void>;
  /** The last aggregate, or `undefined` when there is none or the asset's price has ended. */
  latest(asset: Asset): SignedAggregate | undefined;
  /**
   * The aggregate in force at the end of a UNIX second: the last one signed before the next second.
   * @throws DamagedRecord when the disk no longer holds what was written.
   */
  recent(asset: Asset, second: number): SignedAggregate | undefined;
  /**
   * The candles that start in `fromS` <= t < `toS` (UNIX seconds).
   * @throws DamagedRecord when the disk no longer holds what was written.
   */
  history(
    asset: Asset,
    resolution: Resolution,
    fromS: number,
    toS: number,
    candlesMax: number,
  ): Candles | 'too many';
  /** The days whose candles no longer change. */
  sealedDays(asset: Asset): Days;
  /** The latest accepted inputs of the configured assets and publishers, from disk, for the start. */
  inputs(): Iterable<PublisherPrice>;
  /** Records that are not on disk yet. */
  readonly recordsWaiting: number;
  health(): { readonly ok: true } | { readonly ok: false; readonly reason: string };
  /**
   * Puts a reloaded configuration in force.
   * @throws DamagedRecord, and changes nothing, when the newest record of an added asset, or its hour of candles, is damaged.
   */
  reconfigure(options: Pick<StoreOptions, 'assets' | 'publishers' | 'candleRetentionMs'>): void;
  /**
   * Writes the waiting records and releases the folder.
   * @throws Error when the last commit failed.
   */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** The data folder. It is made when there is none. One process at a time can open it. */
  readonly dir: string;
  readonly assets: readonly Asset[];
  readonly publishers: readonly Publisher[];
  /** How long candles are kept. Whole days are deleted, some time after this. */
  readonly candleRetentionMs: number;
  readonly clock: Clock;
}

/**
 * Opens the data folder and everything in it.
 * @throws Error when another process has the folder, when its format has another version, or when a record that the start
 * needs is damaged.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const folder = await openFolder(options.dir);
  try {
    return storeIn(folder, options);
  } catch (error) {
    await folder.close();
    throw error;
  }
}

function storeIn(folder: Folder, options: StoreOptions): Store {
  const { clock } = options;
  let names = indexRecordNames(options.assets, options.publishers);
  let candleRetentionMs = options.candleRetentionMs;
  let damage: string | undefined;

  const tables = openTables(folder, () => names);
  const journal = openJournal(folder, () =>
    runHousekeeping(seriesIndex.all(), cutoffs(), journal, tables, ({ message }) => {
      damage = message;
    }),
  );
  damage = findDamagedRecord(Object.values(tables));
  const seriesIndex = loadSeries(options.assets, journal, tables);

  function cutoffs(): Cutoffs {
    const nowNs = clock.nowNs();
    return {
      second: Number(nowNs / NS_PER_SECOND) - RECENT_WINDOW_S - RECENT_SLACK_S,
      day: Math.floor((Number(nowNs / NS_PER_MS) - candleRetentionMs) / (DAY_S * 1000)),
    };
  }

  /** Remembers a damaged record, so that {@link Store.health} reports it until the next start. It is never served. */
  function noticeDamage<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof DamagedRecord) damage = error.message;
      throw error;
    }
  }

  return {
    append: (aggregate) => recordAggregate(seriesIndex.of(aggregate.asset), aggregate, journal, tables),
    ended: (asset, atNs) => recordEnd(seriesIndex.of(asset), atNs, journal, tables),
    putInput(input) {
      const symbol = names.symbolOf(input.assetIndex);
      const keyDigits = names.keyDigitsOf(input.publisherIndex);
      ok(symbol !== undefined && keyDigits !== undefined, 'an input of an unknown asset or publisher');
      journal.put(tables.inputs, [symbol, keyDigits], input);
    },
    durable: () => journal.durable(),
    latest: (asset) => noticeDamage(() => seriesIndex.of(asset).newest?.aggregate),
    recent: (asset, second) =>
      noticeDamage(() => {
        const series = seriesIndex.of(asset);
        const inForce = secondInForce(series, second);
        if (inForce === undefined) return undefined;
        if (inForce === series.seconds.at(-1)) return series.newest?.aggregate;
        return journal.get(tables.seconds, [inForce, asset.symbol])?.aggregate;
      }),
    history: (asset, resolution, fromS, toS, candlesMax) =>
      noticeDamage(() =>
        readHistory(seriesIndex.of(asset), resolution, fromS, toS, candlesMax, journal, tables),
      ),
    sealedDays: (asset) => noticeDamage(() => sealedDays(seriesIndex.of(asset))),
    *inputs() {
      for (const [symbol, keyDigits] of tables.inputs.database.getKeys()) {
        if (names.assetOf(String(symbol)) === undefined) continue;
        const input = noticeDamage(() => journal.get(tables.inputs, [symbol, keyDigits]));
        if (input !== undefined && input.publisherIndex !== UNKNOWN_PUBLISHER) yield input;
      }
    },
    get recordsWaiting() {
      return Object.values(tables).reduce((sum, table) => sum + journal.waiting(table as Table<never>), 0);
    },
    health() {
      const reason = journal.failure() ?? damage;
      return reason === undefined ? { ok: true } : { ok: false, reason };
    },
    reconfigure(next) {
      const before = names;
      names = indexRecordNames(next.assets, next.publishers);
      try {
        for (const asset of next.assets) seriesIndex.of(asset);
      } catch (error) {
        names = before;
        throw error;
      }
      candleRetentionMs = next.candleRetentionMs;
    },
    async close() {
      try {
        await journal.close();
      } finally {
        await folder.close();
      }
    },
  };
}

/**
 * Checks the checksum of every record. Otherwise a record with a damaged key would stay undetected: a read would not find it
 * and would return nothing, or an older record.
 */
function findDamagedRecord(tables: readonly Table<never>[]): string | undefined {
  try {
    for (const { database } of tables)
      for (const { key, value } of database.getRange()) unwrapRecord(`${key[0]}/${key[1]}`, value);
    return undefined;
  } catch (error) {
    if (error instanceof DamagedRecord) return error.message;
    throw error;
  }
}
