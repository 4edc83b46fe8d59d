import type { AssetName } from '../model/asset_map.js';
import type { Clock } from '../model/time.js';
import type { AcceptedInput } from '../records/accepted_input.js';
import type { Holding } from '../records/holding.js';
import type { LatestInput } from '../records/latest_input.js';
import { checkRecords, type RecordCheck } from './background_check.js';
import { type Commit, cutoffsAt, runHousekeeping } from './housekeeping.js';
import { InputSlots } from './input_slots.js';
import { Journal, type JournalOptions } from './journal.js';
import { type Folder, type FolderOptions, openFolder } from './lmdb/folder.js';
import { type LogProgress, openLogProgress } from './log_progress.js';
import { openMarks, type StoredMarks } from './marks.js';
import { NoticedDamage } from './noticed_damage.js';
import { type OpenTables, openTables } from './open_tables.js';
import { readSeries, type StoreReader } from './reader.js';
import { inputSignatureType, RecordKeys, symbolsOfStarkAssets } from './record_keys.js';
import { type Days, isBefore, recordHolding } from './series.js';
import { findNewestSecond, findOldestDay, loadSeries, type SeriesIndex } from './series_index.js';
import { type StoredCandles, storedCandles } from './stored_candles.js';
import { StoredSeconds } from './stored_seconds.js';

export interface StoreFigures {
  readonly bytes: number;
  /** The free space of the file system for this process. */
  readonly freeBytes: number;
  /** The time of the last successful commit, in UNIX milliseconds; `undefined` before the first commit. */
  readonly committedAtMs: number | undefined;
  /** The first day that has candles, in days since 1970. */
  readonly oldestDay: number | undefined;
}

export interface StoredInput extends AcceptedInput {
  readonly asset: AssetName;
  /** The bytes of the publisher's key. */
  readonly key: Buffer;
}

export interface StoreOptions extends FolderOptions, JournalOptions {
  /** The data folder. The store creates a missing folder. Only one process at a time can open a folder. */
  readonly dir: string;
  /** The configured assets. Records of other assets stay unchanged. */
  readonly assets: readonly AssetName[];
  /** The retention time of candles. The store deletes whole days, some time after their retention time has passed. */
  readonly candleRetentionMs: number;
  readonly clock: Clock;
  /** The delay of the check of a large folder, and of the removal of old records. A start then has this time. The default is 0. */
  readonly laterMs?: number;
}

/**
 * Opens the data folder and everything in it.
 * @throws Error when another process uses the folder, when the folder has another format version, or when a record that is read at the
 * start is damaged
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const storedSeconds = new StoredSeconds();
  const folder = await openFolder({ ...options, onKeys: new Map([['seconds', storedSeconds.note]]) });
  try {
    return new Store(folder, options, storedSeconds);
  } catch (error) {
    await folder.close(false);
    throw error;
  }
}

/** The stored data of the service: signed aggregates, their candles, and the publishers' latest inputs. */
export class Store implements StoreReader {
  /** The candles that this store exchanges with stores of other nodes. */
  readonly candles: StoredCandles;
  /** The recorded part of a cluster's log. The commit that writes the log's records also writes this part. */
  readonly log: LogProgress;
  readonly marks: StoredMarks;
  /** The symbols that name Stark assets in the keys of records. Followers need these symbols. */
  readonly starkSymbols: ReadonlySet<string>;
  /** The newest UNIX second with a record at the time of opening the folder. */
  readonly newestSecond: number | undefined;
  /** True when another process wrote all its records and handed the folder over. */
  readonly isHandedOver: boolean;
  readonly #folder: Folder;
  readonly #clock: Clock;
  readonly #journal: Journal;
  readonly #tables: OpenTables;
  readonly #recordKeys: RecordKeys;
  readonly #inputSlots: InputSlots;
  readonly #seriesIndex: SeriesIndex;
  readonly #reader: StoreReader;
  readonly #damage = new NoticedDamage();
  readonly #check: RecordCheck | undefined;
  #configured: ReadonlyMap<string, AssetName>;
  #candleRetentionMs: number;
  /** The time of the first housekeeping, as a time of `performance`. */
  readonly #housekeepingMs: number;
  #commit: Commit = { cutoffs: { second: 0, day: 0 }, sealed: [] };
  #written: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  /** @throws Error when a record that is read at the start is damaged */
  constructor(folder: Folder, options: StoreOptions, storedSeconds: StoredSeconds) {
    this.#folder = folder;
    this.#clock = options.clock;
    this.#candleRetentionMs = options.candleRetentionMs;
    this.#housekeepingMs = performance.now() + (options.laterMs ?? 0);
    this.#journal = new Journal(folder, options);
    this.#tables = openTables(this.#journal);
    this.#recordKeys = new RecordKeys(symbolsOfStarkAssets(this.#tables.inputs));
    this.#inputSlots = new InputSlots(this.#tables.inputs, this.#recordKeys);
    this.#seriesIndex = loadSeries(options.assets, this.#recordKeys, this.#tables, storedSeconds);
    this.#configured = this.#byRecordKey(options.assets);
    this.#reader = readSeries((asset) => this.#seriesIndex.of(asset), this.#tables);
    this.#journal.beforeCommit(() => this.#keepHouse());
    this.candles = storedCandles(this.#seriesIndex, this.#tables);
    this.log = openLogProgress(this.#tables.marks);
    this.marks = openMarks(this.#journal, this.#tables.marks);
    this.starkSymbols = this.#recordKeys.starkSymbols;
    this.newestSecond = findNewestSecond(this.#seriesIndex);
    this.isHandedOver = folder.isHandedOver;
    // The check begins last, because nothing would stop the check if a later step failed.
    this.#check = folder.isHandedOver
      ? undefined
      : checkRecords(this.#tables, (reason) => this.#damage.notice(reason), options.laterMs);
  }

  /**
   * Keeps the latest accepted input of a publisher, and the updates that the service remembers against replays.
   * @param key the bytes of the publisher's key
   * @param accepted the memory of the publisher and the asset; the next commit writes the input that it has then
   */
  putInput(asset: AssetName, key: Buffer, accepted: LatestInput): void {
    this.#inputSlots.put(asset, key, accepted);
  }

  /**
   * Records the next holding of an asset, in signing order; in a cluster in the order of the log. A holding that is older than the
   * newest holding changes nothing. The call changes only memory; soon after, a group commit writes the record.
   */
  record(asset: AssetName, holding: Holding): void {
    const series = this.#seriesIndex.of(asset);
    if (series.newest === undefined || !isBefore(holding, series.newest))
      recordHolding(series, holding, this.#tables);
  }

  /**
   * Records an input that another machine accepted.
   * @param input the record of the input
   */
  recordInput(asset: AssetName, key: Buffer, input: AcceptedInput): void {
    this.#tables.inputs.put(this.#recordKeys.ofInput(asset, key), input);
  }

  /**
   * Resolves when all records from before this call are flushed to the disk.
   * @throws Error (as a rejection) with the reason while the disk fails
   */
  durable(): Promise<void> {
    return this.#journal.durable();
  }

  newest(asset: AssetName): Holding | undefined {
    return this.#damage.noticing(() => this.#seriesIndex.of(asset).newest);
  }

  recent(...at: Parameters<StoreReader['recent']>): ReturnType<StoreReader['recent']> {
    return this.#damage.noticing(() => this.#reader.recent(...at));
  }

  history(...range: Parameters<StoreReader['history']>): ReturnType<StoreReader['history']> {
    return this.#damage.noticing(() => this.#reader.history(...range));
  }

  candleDays(asset: AssetName): Days {
    return this.#damage.noticing(() => this.#reader.candleDays(asset));
  }

  sealedDays(asset: AssetName): Days {
    return this.#damage.noticing(() => this.#reader.sealedDays(asset));
  }

  /** Returns the latest accepted inputs of all publishers for the configured assets. */
  *inputs(): Iterable<StoredInput> {
    const { inputs } = this.#tables;
    for (const [assetKey, keyDigits] of inputs.keys()) {
      const asset = this.#configured.get(String(assetKey));
      // Older versions kept inputs of both types under the same key when an asset changed its type.
      if (asset?.signatureType !== inputSignatureType(String(keyDigits))) continue;
      const accepted = this.#damage.noticing(() => inputs.get([assetKey, keyDigits]));
      const key = Buffer.from(String(keyDigits), 'hex');
      if (accepted !== undefined) yield { asset, key, ...accepted };
    }
  }

  /** Sets the watch that tells followers when a commit begins and ends. */
  watchCommits(watch: { begun(commit: Commit): void; settled(isOnDisk: boolean): void }): void {
    this.#journal.watchCommits({
      begun: () => watch.begun(this.#commit),
      settled: (isOnDisk) => watch.settled(isOnDisk),
    });
  }

  /** The number of records that are not on disk yet. */
  get recordsWaiting(): number {
    return this.#journal.waiting;
  }

  /** Records damage that another thread found. */
  noticeDamage(reason: string): void {
    this.#damage.notice(reason);
  }

  /** Returns the size and the age of the folder. */
  figures(): StoreFigures {
    return {
      bytes: this.#folder.fileBytes(),
      freeBytes: this.#folder.freeBytes(),
      committedAtMs: this.#journal.committedAtMs,
      oldestDay: findOldestDay(this.#seriesIndex),
    };
  }

  health(): { readonly ok: true } | { readonly ok: false; readonly reason: string } {
    const reason = this.#journal.failure() ?? this.#damage.reason;
    return reason === undefined ? { ok: true } : { ok: false, reason };
  }

  /**
   * Applies a reloaded configuration.
   * @throws DamagedRecord when the newest record or the newest hour of candles of an added asset is damaged; the call then changes
   * nothing
   */
  reconfigure({ assets, candleRetentionMs }: Pick<StoreOptions, 'assets' | 'candleRetentionMs'>): void {
    for (const asset of assets) this.#seriesIndex.of(asset);
    this.#configured = this.#byRecordKey(assets);
    this.#candleRetentionMs = candleRetentionMs;
  }

  /** Sets the callback for the first request of another process for the folder. */
  onTakeOver(callback: () => void): void {
    this.#folder.onTakeOver(callback);
  }

  /**
   * Writes the waiting records and gives the folder to the process that requested the folder. The store never writes later records.
   * Records on disk stay readable until {@link close}.
   * @throws Error when the last commit failed; this process then still has the folder
   */
  async handOver(): Promise<void> {
    await this.#writeLast();
    await this.#folder.handOver();
  }

  /** Resolves when the process that took the folder starts to serve, ends, or takes too long. */
  successorServes(): Promise<void> {
    return this.#folder.successorServes();
  }

  /** Reports to the process that handed over the folder, if any, that this process serves. */
  tellServing(): void {
    this.#folder.tellServing();
  }

  /**
   * Writes the waiting records and releases the folder. Only the first call has an effect.
   * @throws Error when the last commit failed
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    let isWritten = false;
    try {
      await this.#writeLast();
      isWritten = true;
    } finally {
      await this.#folder.close(isWritten);
    }
  }

  /** Writes for the last time. Another process may then own the folder. */
  #writeLast(): Promise<void> {
    this.#check?.stop();
    this.#written ??= this.#journal.close();
    return this.#written;
  }

  #keepHouse(): void {
    if (performance.now() < this.#housekeepingMs) return;
    const cutoffs = cutoffsAt(this.#clock.nowNs(), this.#candleRetentionMs);
    const sealed = runHousekeeping(this.#seriesIndex.all(), cutoffs, this.#tables, ({ message }) =>
      this.#damage.notice(message),
    );
    this.#commit = { cutoffs, sealed };
  }

  #byRecordKey(assets: readonly AssetName[]): ReadonlyMap<string, AssetName> {
    return new Map(assets.map((asset) => [this.#recordKeys.of(asset), asset]));
  }
}
