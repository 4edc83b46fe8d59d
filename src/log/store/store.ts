import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { AssetName } from '../../model/asset_map.js';
import { listSegments, logFolderOf, segmentPath } from '../disk/segment.js';
import type { AcceptedInput } from '../records/accepted_input.js';
import type { Holding } from '../records/holding.js';
import type { LatestInput } from '../records/latest_input.js';
import { isBefore } from '../records/next_holding.js';
import type { Days } from './candle_files.js';
import type { EntryState } from './entry_state.js';
import { type OpenedFolder, openFolder } from './folder.js';
import type { KeptCandles } from './kept_candles.js';
import { LOSS_ENTRY } from './log_entries.js';
import { type LogProgress, openLogProgress } from './log_progress.js';
import { LoggedState } from './logged_state.js';
import { openMarks, type StoredMarks } from './marks.js';
import { NoticedDamage } from './noticed_damage.js';
import type { StoreReader } from './reader.js';
import { SegmentSealer } from './segment_sealer.js';
import { SNAPSHOT_FILE } from './state_snapshot.js';
import type {
  SegmentFollower,
  SegmentPosition,
  StoredInput,
  StoreFigures,
  StoreOptions,
} from './store_options.js';
import { type StoredCandles, storedCandles } from './stored_candles.js';

/**
 * Opens the data folder and everything in it.
 * @throws Error when another process uses the folder, when the folder has another format version, or when the state in it is damaged
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const damage = new NoticedDamage(options.logger);
  const folder = await openFolder(options, (reason) => damage.notice(reason));
  try {
    return new Store(folder, options, damage, await options.openFollower?.());
  } catch (error) {
    await folder.lock.release(false);
    throw error;
  }
}

/** The stored data of the service: the newest aggregates, candles, the publishers' latest inputs, and marks. */
export class Store implements StoreReader {
  /** The candles that this store exchanges with stores of other nodes. */
  readonly candles: StoredCandles;
  /** The recorded part of a cluster's log. The commit that writes the log's records also writes this part. */
  readonly log: LogProgress;
  readonly marks: StoredMarks;
  /** The newest UNIX second with a record at the time of opening the folder. */
  readonly newestSecond: number | undefined;
  /** True when another process wrote all its records and handed the folder over. */
  readonly isHandedOver: boolean;
  readonly #options: StoreOptions;
  readonly #sealer: SegmentSealer;
  readonly #folder: OpenedFolder;
  readonly #state: EntryState;
  readonly #logged: LoggedState;
  readonly #candles: KeptCandles;
  readonly #damage: NoticedDamage;
  readonly #later: NodeJS.Timeout;
  #configured: readonly AssetName[];
  #candleRetentionMs: number;
  #written: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(
    folder: OpenedFolder,
    options: StoreOptions,
    damage: NoticedDamage,
    follower: SegmentFollower | undefined,
  ) {
    const { dir, laterMs = 0, ...others } = options;
    const { state, candles, log } = folder;
    this.#options = options;
    this.#folder = folder;
    this.#state = state;
    this.#candles = candles;
    this.#damage = damage;
    this.#configured = options.assets;
    this.#candleRetentionMs = options.candleRetentionMs;
    if (follower !== undefined && follower.last.segment < folder.sealedSegment)
      follower.notice(
        `it has the log to segment ${follower.last.segment} and had it to ${folder.sealedSegment}: files were removed, or are an older copy`,
      );
    // The numbers of segments never repeat, even if the follower has a later copy of the log.
    const segment = Math.max(log.last.segment, follower?.last.segment ?? 0);
    this.#sealer = new SegmentSealer({
      dir,
      clock: options.clock,
      state,
      candles,
      follower,
      durable: () => this.durable(),
      candleRetentionMs: () => this.#candleRetentionMs,
    });
    this.#logged = new LoggedState(
      state,
      { ...others, folder: logFolderOf(dir), seal: (...sealed) => this.#sealer.seal(...sealed) },
      { ...log, last: { segment, id: log.last.id } },
    );
    this.candles = storedCandles(state, candles, (asset) => this.#logged.closeMinute(asset));
    this.marks = openMarks(state, this.#logged.putMark, () => this.durable());
    this.log = openLogProgress(this.marks);
    this.newestSecond = state.newestSecond();
    this.isHandedOver = folder.lock.isHandedOver;
    this.#later = setTimeout(() => this.#beginLater(), laterMs).unref();
  }

  /** True if the last process wrote everything before it ended. Otherwise, aggregates that it served may be missing. */
  get isClean(): boolean {
    return this.#folder.isClean;
  }

  /**
   * Keeps the latest accepted input of a publisher, and the updates that the service remembers against replays.
   * @param key the bytes of the publisher's key
   * @param accepted the memory of the publisher and the asset; the next commit writes the input that it has then
   */
  putInput(asset: AssetName, key: Buffer, accepted: LatestInput): void {
    this.#logged.putInput(asset, key, accepted);
  }

  /**
   * Records the next holding of an asset, in signing order; in a cluster in the order of the log. A holding that is older than the
   * newest holding changes nothing. The call changes only memory; soon after, a group commit writes the record.
   */
  record(asset: AssetName, holding: Holding): void {
    const newest = this.#state.newest(asset);
    if (newest === undefined || !isBefore(holding, newest)) this.#logged.put(asset, holding);
  }

  /** Records an input that another machine accepted. */
  recordInput(asset: AssetName, key: Buffer, input: AcceptedInput): void {
    this.#logged.recordInput(asset, key, input);
  }

  /** Notes in the log that aggregates of all assets may be missing after the newest one, until the next aggregate. */
  lost(): void {
    this.#logged.log.append(LOSS_ENTRY);
  }

  /**
   * Resolves when all records from before this call are flushed to the disk.
   * @throws Error (as a rejection) with the reason while the disk fails
   */
  durable(): Promise<void> {
    return this.#logged.log.durable();
  }

  /** Resolves when other threads find everything from before this call in the files. @throws Error (as a rejection) while the disk fails */
  async written(): Promise<void> {
    for (const { asset, newest } of this.#state.assets.values())
      if (newest?.minute !== undefined) this.#candles.close(asset, newest.minute);
    await Promise.all([this.durable(), this.#candles.flush()]);
  }

  newest(asset: AssetName): Holding | undefined {
    return this.#state.newest(asset);
  }

  history(...[asset, resolution, fromS, toS, candlesMax]: Parameters<StoreReader['history']>) {
    return this.#candles.reader.history(asset, { resolution, fromS, toS, candlesMax });
  }

  candleDays(asset: AssetName): Days {
    return this.#candles.reader.candleDays(asset);
  }

  sealedDays(asset: AssetName): Days {
    return this.#candles.reader.sealedDays(asset);
  }

  /** Returns the latest accepted inputs of all publishers for the configured assets. */
  *inputs(): Iterable<StoredInput> {
    const configured = new Set(
      this.#configured.map(({ symbol, signatureType }) => `${signatureType} ${symbol}`),
    );
    for (const { asset, key, accepted } of this.#state.inputs.values()) {
      if (!configured.has(`${asset.signatureType} ${asset.symbol}`)) continue;
      const { input, seen } = accepted;
      yield {
        asset,
        key: Buffer.from(key, 'hex'),
        input,
        seen: seen && { floorNs: seen.floorNs, updates: seen.updates },
      };
    }
  }

  /** The number of records that are not on disk yet. */
  get recordsWaiting(): number {
    return this.#logged.waiting;
  }

  /** Records damage that another thread found. */
  noticeDamage(reason: string): void {
    this.#damage.notice(reason);
  }

  /** The position of the log. Asks the disk for nothing. */
  get position(): SegmentPosition {
    const { log } = this.#logged;
    return { segment: log.newest.segment, segmentsWaiting: log.segmentsToSeal };
  }

  /** Returns the size and the age of the folder, and the position of its log. */
  figures(): StoreFigures {
    const { dir } = this.#options;
    const folder = logFolderOf(dir);
    const files = [
      ...listSegments(folder).map((segment) => segmentPath(folder, segment)),
      join(dir, SNAPSHOT_FILE),
    ];
    const { log } = this.#logged;
    return {
      bytes: files.reduce((sum, file) => sum + sizeOf(file), this.#candles.bytes),
      freeBytes: log.freeBytes,
      committedAtMs: log.committedAtMs,
      oldestDay: this.#candles.oldestDay,
      ...this.position,
    };
  }

  health(): { readonly ok: true } | { readonly ok: false; readonly reason: string } {
    const reason = this.#logged.log.failure() ?? this.#candles.failure() ?? this.#damage.reason;
    return reason === undefined ? { ok: true } : { ok: false, reason };
  }

  /** Applies a reloaded configuration. */
  reconfigure({ assets, candleRetentionMs }: Pick<StoreOptions, 'assets' | 'candleRetentionMs'>): void {
    this.#configured = assets;
    this.#candleRetentionMs = candleRetentionMs;
  }

  /** Sets the callback for the first request of another process for the folder. */
  onTakeOver(callback: () => void): void {
    this.#folder.lock.onTakeOver(callback);
  }

  /**
   * Writes the waiting records and gives the folder to the process that requested the folder. The store never writes later records.
   * Records on disk stay readable until {@link close}.
   * @throws Error when the last commit failed; this process then still has the folder
   */
  async handOver(): Promise<void> {
    await this.#writeLast();
    await this.#folder.lock.release(true);
  }

  /** Resolves when the process that took the folder starts to serve, ends, or takes too long. */
  successorServes(): Promise<void> {
    return this.#folder.lock.successorServes();
  }

  /** Reports to the process that handed over the folder, if any, that this process serves. */
  tellServing(): void {
    this.#folder.lock.tellServing();
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
      await this.#folder.lock.release(isWritten);
    }
  }

  /** Writes for the last time. Another process may then own the folder. */
  #writeLast(): Promise<void> {
    clearTimeout(this.#later);
    this.#written ??= this.#logged.close().finally(() => this.#candles.end());
    return this.#written;
  }

  #beginLater(): void {
    void this.#sealer.removeOldCandles().catch(() => {});
    this.#logged.log.beginSealing();
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
