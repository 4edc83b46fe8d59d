import type { AssetName } from '../model/asset_map.js';
import type { SeenUpdates } from '../model/seen_updates.js';
import type { PublisherPrice, SignedAggregate } from '../model/signed_price.js';
import { type Clock, NS_PER_MS, NS_PER_SECOND, type TimeNs } from '../model/time.js';
import type { AcceptedInput } from '../records/accepted_input.js';
import { DamagedRecord } from '../records/envelope.js';
import { RECENT_WINDOW_S, type Resolution } from '../wire/rest.js';
import { type Candles, readHistory } from './history.js';
import { type Cutoffs, type Days, runHousekeeping, sealedDays } from './housekeeping.js';
import { openJournal } from './journal.js';
import { type Folder, openFolder } from './lmdb/folder.js';
import { type Marks, openMarks } from './marks.js';
import { inputSignatureType, RecordKeys } from './record_keys.js';
import { DAY_S } from './resolution.js';
import { recordAggregate, recordEnd, secondInForce } from './series.js';
import { loadSeries, type SeriesIndex } from './series_index.js';
import { openTables, type Tables } from './tables.js';

/** Seconds that `recent` keeps beyond its window, for clocks that differ. */
const RECENT_SLACK_S = 60;

/** Everything that the service stores: signed aggregates, their candles, and the publishers' latest inputs. */
export interface Store {
  /** Records the next aggregate, in signing order. This changes only memory; a group commit writes it soon after. */
  append(aggregate: SignedAggregate): void;
  /** Records that the asset has no live price from `atNs` on, until its next aggregate. */
  ended(asset: AssetName, atNs: TimeNs): void;
  /**
   * Keeps the latest accepted input of a publisher for an asset, in one record with what must be remembered of those
   * before it.
   * @param key the publisher's: its bytes
   */
  putInput(asset: AssetName, key: Buffer, input: PublisherPrice, seen: SeenUpdates): void;
  /**
   * Resolves when everything recorded before this call has been flushed to the disk.
   * @throws Error (as a rejection) with the reason while the disk fails.
   */
  durable(): Promise<void>;
  /** The last aggregate, or `undefined` when there is none or the asset's price has ended. */
  latest(asset: AssetName): SignedAggregate | undefined;
  /**
   * The aggregate in force at the end of a UNIX second: the last one signed before the next second.
   * @throws DamagedRecord when the disk no longer holds what was written.
   */
  recent(asset: AssetName, second: number): SignedAggregate | undefined;
  /**
   * The candles that start in `fromS` <= t < `toS` (UNIX seconds).
   * @throws DamagedRecord when the disk no longer holds what was written.
   */
  history(
    asset: AssetName,
    resolution: Resolution,
    fromS: number,
    toS: number,
    candlesMax: number,
  ): Candles | 'too many';
  /** The days whose candles no longer change. */
  sealedDays(asset: AssetName): Days;
  /** The latest accepted inputs of all publishers for the configured assets, from disk, for the start. */
  inputs(): Iterable<StoredInput>;
  readonly marks: Marks;
  /** The newest UNIX second that the folder had a record of when it was opened. */
  readonly newestSecond: number | undefined;
  /** Records that are not on disk yet. */
  readonly recordsWaiting: number;
  health(): { readonly ok: true } | { readonly ok: false; readonly reason: string };
  /**
   * Puts a reloaded configuration in force.
   * @throws DamagedRecord, and changes nothing, when the newest record of an added asset, or its hour of candles, is damaged.
   */
  reconfigure(options: Pick<StoreOptions, 'assets' | 'candleRetentionMs'>): void;
  /**
   * Writes the waiting records and releases the folder.
   * @throws Error when the last commit failed.
   */
  close(): Promise<void>;
}

export interface StoredInput extends AcceptedInput {
  readonly asset: AssetName;
  /** The publisher's key: its bytes. */
  readonly key: Buffer;
}

export interface StoreOptions {
  /** The data folder. It is made when there is none. One process at a time can open it. */
  readonly dir: string;
  /** The configured assets. Records of others stay unchanged. */
  readonly assets: readonly AssetName[];
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
  let candleRetentionMs = options.candleRetentionMs;
  let damage: string | undefined;

  const journal = openJournal(folder);
  const tables = openTables(journal);
  damage = findDamagedRecord(tables);
  const recordKeys = new RecordKeys(tables.inputs);
  const seriesIndex = loadSeries(options.assets, recordKeys, tables);
  const newestSecond = findNewestSecond(seriesIndex);
  let configured = byRecordKey(options.assets);
  journal.beforeCommit(() =>
    runHousekeeping(seriesIndex.all(), cutoffs(), tables, ({ message }) => {
      damage = message;
    }),
  );

  function byRecordKey(assets: readonly AssetName[]): ReadonlyMap<string, AssetName> {
    return new Map(assets.map((asset) => [recordKeys.of(asset), asset]));
  }

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
    append: (aggregate) => recordAggregate(seriesIndex.of(aggregate), aggregate, tables),
    ended: (asset, atNs) => recordEnd(seriesIndex.of(asset), atNs, tables),
    putInput: (asset, key, input, seen) =>
      tables.inputs.put([recordKeys.of(asset), key.toString('hex')], { input, seen }),
    durable: () => journal.durable(),
    latest: (asset) => noticeDamage(() => seriesIndex.of(asset).newest?.aggregate),
    recent: (asset, second) =>
      noticeDamage(() => {
        const series = seriesIndex.of(asset);
        const inForce = secondInForce(series, second);
        if (inForce === undefined) return undefined;
        if (inForce === series.seconds.at(-1)) return series.newest?.aggregate;
        return tables.seconds.get([inForce, series.assetKey])?.aggregate;
      }),
    history: (asset, resolution, fromS, toS, candlesMax) =>
      noticeDamage(() => readHistory(seriesIndex.of(asset), resolution, fromS, toS, candlesMax, tables)),
    sealedDays: (asset) => noticeDamage(() => sealedDays(seriesIndex.of(asset))),
    *inputs() {
      for (const [assetKey, keyDigits] of tables.inputs.keysOnDisk()) {
        const asset = configured.get(String(assetKey));
        // Older versions kept inputs of both types under one key when an asset changed its type.
        if (asset?.signatureType !== inputSignatureType(String(keyDigits))) continue;
        const accepted = noticeDamage(() => tables.inputs.get([assetKey, keyDigits]));
        const key = Buffer.from(String(keyDigits), 'hex');
        if (accepted !== undefined) yield { asset, key, ...accepted };
      }
    },
    marks: openMarks(journal, tables.marks),
    newestSecond,
    get recordsWaiting() {
      return journal.waiting;
    },
    health() {
      const reason = journal.failure() ?? damage;
      return reason === undefined ? { ok: true } : { ok: false, reason };
    },
    reconfigure(next) {
      for (const asset of next.assets) seriesIndex.of(asset);
      configured = byRecordKey(next.assets);
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

function findNewestSecond(seriesIndex: SeriesIndex): number | undefined {
  let newest: number | undefined;
  for (const { seconds } of seriesIndex.all()) {
    const last = seconds.at(-1);
    if (last !== undefined && (newest === undefined || last > newest)) newest = last;
  }
  return newest;
}

/**
 * Checks the checksum of every record. Otherwise a record with a damaged key would stay undetected: a read would not find it
 * and would return nothing, or an older record.
 */
function findDamagedRecord(tables: Tables): string | undefined {
  try {
    for (const table of Object.values(tables)) table.checkOnDisk();
    return undefined;
  } catch (error) {
    if (error instanceof DamagedRecord) return error.message;
    throw error;
  }
}
