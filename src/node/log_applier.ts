import { LOG_START, type LogPosition } from '../cluster/bus.js';
import type { LogBatch } from '../cluster/log/log_batch.js';
import type { FeedSource } from '../feed/feed_source.js';
import type { AssetName } from '../model/asset_map.js';
import type { Catalogue } from '../model/catalogue.js';
import { NS_PER_SECOND } from '../model/time.js';
import { openAcceptedInput } from '../records/accepted_input.js';
import { openHolding } from '../records/second_record.js';
import type { LogProgress } from '../store/log_progress.js';
import type { Store } from '../store/store.js';

export interface LogApplierOptions {
  readonly store: Store;
  readonly source: Pick<FeedSource, 'recorded'>;
  /** In force. */
  readonly catalogue: () => Catalogue;
  /** Whether inputs are stored: an edge never makes prices of them. */
  readonly keepsInputs: boolean;
  /** A minute of an asset, counted since 1970, has closed. */
  readonly onMinuteClosed: (asset: AssetName, minute: number) => void;
  /** The store has records of which readers were not told one by one. */
  readonly onStoreChanged: () => void;
}

/**
 * Takes the records of the log: what is in them is stored as it came, and served once the log has been read to its end. Before that readers
 * may have been shown newer aggregates than the store has: a process that is killed loses what was not yet on disk, and the log has it.
 */
export class LogApplier {
  readonly #options: LogApplierOptions;
  #newestNs: bigint;
  #isServed = false;
  /** There are records of which readers were not told. */
  #isAhead = false;

  constructor(options: LogApplierOptions) {
    this.#options = options;
    this.#newestNs = BigInt((options.store.newestSecond ?? -1) + 1) * NS_PER_SECOND;
  }

  /** No aggregate that was recorded was signed later. */
  get newestNs(): bigint {
    return this.#newestNs;
  }

  /** All records of the log have been applied. */
  caughtUp(): void {
    const { store, keepsInputs } = this.#options;
    if (keepsInputs) store.log.lacksInputs = false;
    this.serve();
  }

  /** Nothing that readers were shown is missing any more: what the store has is served, until its inputs are too old. */
  serve(): void {
    if (this.#isServed) return;
    this.#isServed = true;
    const { store, source, catalogue, onStoreChanged } = this.#options;
    for (const asset of catalogue().listed) {
      const holding = store.newest(asset);
      if (holding?.state === 'priced') source.recorded({ asset, holding });
    }
    if (this.#isAhead) onStoreChanged();
  }

  /** The next record of the log. */
  apply({ entries }: LogBatch, position: LogPosition): void {
    const { store, keepsInputs } = this.#options;
    for (const { publisherKey, bytes, ...name } of entries) {
      if (publisherKey !== undefined && !keepsInputs) continue;
      // They outlive the record, which is much larger.
      const own = new Uint8Array(bytes);
      if (publisherKey === undefined) this.#record(name, own);
      else store.recordInput(name, Buffer.from(publisherKey), openAcceptedInput(own));
    }
    store.log.position = position;
  }

  #record(name: AssetName, bytes: Uint8Array): void {
    const { store, source, catalogue, onMinuteClosed } = this.#options;
    const asset = catalogue().placedAsset(name) ?? name;
    const holding = openHolding(bytes, asset.symbol);
    if (holding.timeNs > this.#newestNs) this.#newestNs = holding.timeNs;
    const running = store.newest(asset)?.minute?.minute;
    store.record(asset, holding);
    if (this.#isServed) source.recorded({ asset, holding });
    else this.#isAhead = true;
    if (running !== undefined && holding.minute?.minute !== running) onMinuteClosed(asset, running);
  }
}

/** After which record the log is to be read. A node that was an edge reads all of it again, for the inputs. */
export function placeToReadFrom(log: LogProgress, keepsInputs: boolean): LogPosition {
  if (!keepsInputs) log.lacksInputs = true;
  return (keepsInputs && log.lacksInputs ? undefined : log.position) ?? LOG_START;
}
