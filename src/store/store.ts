import type { AssetName } from '../model/asset_map.js';
import type { SeenUpdates } from '../model/seen_updates.js';
import { type Clock, NS_PER_MS, NS_PER_SECOND } from '../model/time.js';
import { type AcceptedInput, AcceptedRow } from '../records/accepted_input.js';
import { DamagedRecord } from '../records/envelope.js';
import type { InputRow } from '../records/input_row.js';
import type { Holding } from '../records/second_record.js';
import { DAY_S } from '../wire/resolution.js';
import { RECENT_WINDOW_S } from '../wire/rest_values.js';
import { checkRecords } from './background_check.js';
import { type Cutoffs, runHousekeeping, type SealedDay } from './housekeeping.js';
import { openJournal } from './journal.js';
import { type Folder, type FolderOptions, openFolder } from './lmdb/folder.js';
import { type LogProgress, openLogProgress } from './log_progress.js';
import { openMarks, type StoredMarks } from './marks.js';
import { openTables, putInput } from './open_tables.js';
import { readSeries, type StoreReader } from './reader.js';
import { inputSignatureType, RecordKeys, symbolsOfStarkAssets } from './record_keys.js';
import { isBefore, recordHolding } from './series.js';
import { findNewestSecond, findOldestDay, loadSeries } from './series_index.js';
import { type StoredCandles, storedCandles } from './stored_candles.js';

/** The number of seconds that `recent` keeps in addition to its window, because clocks differ. */
const RECENT_SLACK_S = 60;

/** The stored data of the service: signed aggregates, their candles, and the publishers' latest inputs. */
export interface Store
  extends StoreReader,
    Pick<Folder, 'isHandedOver' | 'onTakeOver' | 'successorServes' | 'tellServing'> {
  /**
   * Keeps the latest accepted input of a publisher, and the updates that the service remembers against replays.
   * @param key the bytes of the publisher's key
   * @param input the row of the input; the next commit writes what the row has then
   */
  putInput(asset: AssetName, key: Buffer, input: InputRow, seen: SeenUpdates): void;
  /**
   * Records the next holding of an asset, in signing order; in a cluster in the order of the log. A holding that is older than the
   * newest holding changes nothing. The call changes only memory; soon after, a group commit writes the record.
   */
  record(asset: AssetName, holding: Holding): void;
  /**
   * Records an input that another machine accepted.
   * @param input the record of the input
   */
  recordInput(asset: AssetName, key: Buffer, input: AcceptedInput): void;
  /** The candles that this store exchanges with stores of other nodes. */
  readonly candles: StoredCandles;
  /** The recorded part of a cluster's log. The commit that writes the log's records also writes this part. */
  readonly log: LogProgress;
  /**
   * Resolves when all records from before this call are flushed to the disk.
   * @throws Error (as a rejection) with the reason while the disk fails
   */
  durable(): Promise<void>;
  /** Returns the latest accepted inputs of all publishers for the configured assets. */
  inputs(): Iterable<StoredInput>;
  readonly marks: StoredMarks;
  /** The symbols that name Stark assets in the keys of records. Followers need these symbols. */
  readonly starkSymbols: ReadonlySet<string>;
  /** Sets the watch that tells followers when a commit begins and ends. */
  watchCommits(watch: { begun(commit: Commit): void; settled(isOnDisk: boolean): void }): void;
  /** The newest UNIX second with a record at the time of opening the folder. */
  readonly newestSecond: number | undefined;
  /** The number of records that are not on disk yet. */
  readonly recordsWaiting: number;
  /** Records damage that another thread found. */
  noticeDamage(reason: string): void;
  /** Returns the size and the age of the folder. */
  figures(): StoreFigures;
  health(): { readonly ok: true } | { readonly ok: false; readonly reason: string };
  /**
   * Applies a reloaded configuration.
   * @throws DamagedRecord when the newest record or the newest hour of candles of an added asset is damaged; the call then changes
   * nothing
   */
  reconfigure(options: Pick<StoreOptions, 'assets' | 'candleRetentionMs'>): void;
  /**
   * Writes the waiting records and gives the folder to the process that requested the folder. The store never writes later records.
   * Records on disk stay readable until {@link close}.
   * @throws Error when the last commit failed; this process then still has the folder
   */
  handOver(): Promise<void>;
  /**
   * Writes the waiting records and releases the folder. Only the first call has an effect.
   * @throws Error when the last commit failed
   */
  close(): Promise<void>;
}

export interface StoreFigures {
  readonly bytes: number;
  /** The free space of the file system for this process. */
  readonly freeBytes: number;
  /** The time of the last successful commit, in UNIX milliseconds; `undefined` before the first commit. */
  readonly committedAtMs: number | undefined;
  /** The first day that has candles, in days since 1970. */
  readonly oldestDay: number | undefined;
}

/** The part of a commit that a follower must know. */
export interface Commit {
  readonly cutoffs: Cutoffs;
  readonly sealed: readonly SealedDay[];
}

export interface StoredInput extends AcceptedInput {
  readonly asset: AssetName;
  /** The bytes of the publisher's key. */
  readonly key: Buffer;
}

export interface StoreOptions extends FolderOptions {
  /** The data folder. The store creates a missing folder. Only one process at a time can open a folder. */
  readonly dir: string;
  /** The configured assets. Records of other assets stay unchanged. */
  readonly assets: readonly AssetName[];
  /** The retention time of candles. The store deletes whole days, some time after their retention time has passed. */
  readonly candleRetentionMs: number;
  readonly clock: Clock;
  /** Logs when the disk begins to fail, and when it works again. */
  readonly logger?: Parameters<typeof openJournal>[1];
  readonly companion?: Parameters<typeof openJournal>[2];
}

/**
 * Opens the data folder and everything in it.
 * @throws Error when another process uses the folder, when the folder has another format version, or when a record that is read at the
 * start is damaged
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const folder = await openFolder(options);
  try {
    return storeIn(folder, options);
  } catch (error) {
    await folder.close(false);
    throw error;
  }
}

function storeIn(folder: Folder, options: StoreOptions): Store {
  const { clock } = options;
  let candleRetentionMs = options.candleRetentionMs;
  let damage: string | undefined;

  const journal = openJournal(folder, options.logger, options.companion);
  const tables = openTables(journal);
  const recordKeys = new RecordKeys(symbolsOfStarkAssets(tables.inputs));
  const seriesIndex = loadSeries(options.assets, recordKeys, tables);
  const newestSecond = findNewestSecond(seriesIndex);
  let configured = byRecordKey(options.assets);
  const reader = readSeries((asset) => seriesIndex.of(asset), tables);
  let commit: Commit = { cutoffs: { second: 0, day: 0 }, sealed: [] };
  journal.beforeCommit(() => {
    const before = cutoffs();
    const sealed = runHousekeeping(seriesIndex.all(), before, tables, ({ message }) => {
      damage = message;
    });
    commit = { cutoffs: before, sealed };
  });

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

  /**
   * Runs a read. If the read finds a damaged record, {@link Store.health} reports the damage until the next start, and this function
   * throws the error again.
   */
  function noticing<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof DamagedRecord) damage = error.message;
      throw error;
    }
  }

  let written: Promise<void> | undefined;
  /** Writes for the last time. Another process may then own the folder. */
  function writeLast(): Promise<void> {
    check?.stop();
    written ??= journal.close();
    return written;
  }

  let closed: Promise<void> | undefined;
  async function close(): Promise<void> {
    let isWritten = false;
    try {
      await writeLast();
      isWritten = true;
    } finally {
      await folder.close(isWritten);
    }
  }

  // The check begins last, because nothing would stop the check if a later step failed.
  const check = folder.isHandedOver
    ? undefined
    : checkRecords(tables, (reason) => {
        damage = reason;
      });

  return {
    putInput: (asset, key, input, seen) =>
      putInput(tables, recordKeys.ofInput(asset, key), new AcceptedRow(input, seen)),
    record(asset, holding) {
      const series = seriesIndex.of(asset);
      if (series.newest === undefined || !isBefore(holding, series.newest))
        recordHolding(series, holding, tables);
    },
    recordInput: (asset, key, input) => tables.inputs.put([recordKeys.of(asset), key.toString('hex')], input),
    candles: storedCandles(seriesIndex, tables),
    newest: (asset) => noticing(() => seriesIndex.of(asset).newest),
    log: openLogProgress(tables.marks),
    durable: () => journal.durable(),
    recent: (asset, second) => noticing(() => reader.recent(asset, second)),
    history: (...range) => noticing(() => reader.history(...range)),
    candleDays: (asset) => noticing(() => reader.candleDays(asset)),
    sealedDays: (asset) => noticing(() => reader.sealedDays(asset)),
    starkSymbols: recordKeys.starkSymbols,
    watchCommits(watch) {
      journal.watchCommits({
        begun: () => watch.begun(commit),
        settled: (isOnDisk) => watch.settled(isOnDisk),
      });
    },
    *inputs() {
      for (const [assetKey, keyDigits] of tables.inputs.keys()) {
        const asset = configured.get(String(assetKey));
        // Older versions kept inputs of both types under the same key when an asset changed its type.
        if (asset?.signatureType !== inputSignatureType(String(keyDigits))) continue;
        const accepted = noticing(() => tables.inputs.get([assetKey, keyDigits]));
        const key = Buffer.from(String(keyDigits), 'hex');
        if (accepted !== undefined) yield { asset, key, ...accepted };
      }
    },
    marks: openMarks(journal, tables.marks),
    newestSecond,
    get recordsWaiting() {
      return journal.waiting;
    },
    noticeDamage(reason) {
      damage = reason;
    },
    figures: () => ({
      bytes: folder.fileBytes(),
      freeBytes: folder.freeBytes(),
      committedAtMs: journal.committedAtMs,
      oldestDay: findOldestDay(seriesIndex),
    }),
    health() {
      const reason = journal.failure() ?? damage;
      return reason === undefined ? { ok: true } : { ok: false, reason };
    },
    reconfigure(next) {
      for (const asset of next.assets) seriesIndex.of(asset);
      configured = byRecordKey(next.assets);
      candleRetentionMs = next.candleRetentionMs;
    },
    isHandedOver: folder.isHandedOver,
    onTakeOver: (callback) => folder.onTakeOver(callback),
    async handOver() {
      await writeLast();
      await folder.handOver();
    },
    successorServes: () => folder.successorServes(),
    tellServing: () => folder.tellServing(),
    close: () => (closed ??= close()),
  };
}
