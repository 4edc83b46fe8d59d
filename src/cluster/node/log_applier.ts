import type { FeedSource } from '../../log/feed/feed_source.js';
import { openAcceptedInput } from '../../log/records/accepted_input.js';
import { decodeHolding, encodeHolding } from '../../log/records/holding.js';
import type { LogProgress } from '../../log/store/log_progress.js';
import { signedSizes } from '../../log/store/log_sizes.js';
import type { Store } from '../../log/store/store.js';
import type { AssetName } from '../../model/asset_map.js';
import type { Catalogue } from '../../model/catalogue.js';
import { NS_PER_SECOND } from '../../model/time.js';
import type { InputVerifier } from '../../prices/input_verifier.js';
import { parseCheckpoint } from '../../tlog/tree_checkpoint.js';
import { LOG_START, type LogPosition } from '../bus.js';
import type { LogBatch, LogEntry } from '../log/log_batch.js';
import type { OpenLog } from './public_log.js';
import { publicLogFault, recordFault } from './record_check.js';

export interface LogApplierOptions {
  readonly store: Store;
  /** The public log of this node; absent when the log is off. */
  readonly publicLog?: Pick<OpenLog, 'follow' | 'record'> | undefined;
  readonly source: Pick<FeedSource, 'recorded'>;
  readonly catalogue: () => Catalogue;
  /** True when the node stores inputs. An edge stores none, because it never makes prices. */
  readonly keepsInputs: boolean;
  /** Called when a minute of an asset has closed. The minute is counted since 1970. */
  readonly onMinuteClosed: (asset: AssetName, minute: number) => void;
  /** The verifier of each record's inputs; absent when the node trusts the log. */
  readonly verifier?: InputVerifier | undefined;
  /** Called when a record has no effect because its inputs are not authentic or its part of the public log is invalid. */
  readonly onUnauthentic: (reason: string) => void;
  /** Called when the store has records that readers did not receive one by one. */
  readonly onStoreChanged: () => void;
}

/**
 * Applies the records of the log. Stores the entries of a record unchanged. Serves aggregates only after reading the log to its end: until
 * then, the store may lack aggregates that readers have already seen, because a killed process loses the data that was not yet on disk. The
 * log still has these aggregates.
 */
export class LogApplier {
  readonly #options: LogApplierOptions;
  #newestNs: bigint;
  #isServed = false;
  /** True when the store has records that readers have not received. */
  #isAhead = false;
  #unauthenticCount = 0;

  constructor(options: LogApplierOptions) {
    this.#options = options;
    this.#newestNs = BigInt((options.store.newestSecond ?? -1) + 1) * NS_PER_SECOND;
  }

  /** The latest signing time of the stored aggregates. */
  get newestNs(): bigint {
    return this.#newestNs;
  }

  /** The number of records that had no effect because they are not authentic. */
  get unauthenticCount(): number {
    return this.#unauthenticCount;
  }

  /** Notes that the log has deleted records that this node has not applied. A node that has applied none has no past with a hole. */
  missing(): void {
    const { store } = this.#options;
    if (store.log.position !== undefined) store.lost();
  }

  /** Notes that this node has applied all records of the log. */
  caughtUp(): void {
    const { store, keepsInputs } = this.#options;
    if (keepsInputs) store.log.lacksInputs = false;
    this.serve();
  }

  /**
   * Serves the aggregates of the store until their inputs are too old. The store must already have every aggregate that readers have seen.
   */
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

  /** Applies the next record of the log. A record that is not authentic has no effect; the log continues after it. */
  apply(batch: LogBatch, position: LogPosition): void {
    const { store, verifier, onUnauthentic } = this.#options;
    const fault = publicLogFault(batch) ?? (verifier && recordFault(batch, verifier));
    if (fault === undefined) this.#applyEntries(batch.entries);
    else {
      this.#unauthenticCount++;
      onUnauthentic(`record ${position.sequence} of the log ${fault}`);
    }
    store.log.position = position;
  }

  #applyEntries(entries: readonly LogEntry[]): void {
    const { store, publicLog, keepsInputs } = this.#options;
    for (const entry of entries) {
      const { publisherKey, publicLog: kind, bytes } = entry;
      // Bytes that are kept longer than the record are copied, because the record is much larger.
      if (kind !== undefined) {
        const part = new Uint8Array(bytes);
        publicLog?.follow(kind, part);
        if (kind === 'head' && (publicLog === undefined || !keepsInputs)) this.#noteHead(part);
      } else if (publisherKey === undefined) this.#record(entry, bytes);
      else if (keepsInputs)
        store.recordInput(entry, Buffer.from(publisherKey), openAcceptedInput(new Uint8Array(bytes)));
    }
  }

  /** Stores the tree, so that this node never begins a second log with the same origin when its own log is turned on later. */
  #noteHead(bytes: Uint8Array): void {
    const { origin, size } = parseCheckpoint(Buffer.from(bytes).toString());
    void signedSizes(this.#options.store.marks).write(origin, size);
  }

  #record({ symbol, signatureType }: AssetName, bytes: Uint8Array): void {
    const { store, publicLog, source, catalogue, onMinuteClosed } = this.#options;
    const name = { symbol, signatureType };
    const asset = catalogue().placedAsset(name) ?? name;
    const newest = store.newest(asset);
    const holding = decodeHolding(bytes);
    if (holding.timeNs > this.#newestNs) this.#newestNs = holding.timeNs;
    // A checkpoint repeats the newest record, for nodes that lack it.
    if (newest?.timeNs === holding.timeNs && encodeHolding(newest).equals(bytes)) return;
    const running = newest?.minute?.minute;
    store.record(asset, holding);
    publicLog?.record(holding);
    if (this.#isServed) source.recorded({ asset, holding });
    else this.#isAhead = true;
    if (running !== undefined && holding.minute?.minute !== running) onMinuteClosed(asset, running);
  }
}

/**
 * Returns the position after which the node must read the log. A node that was an edge reads the whole log again, because it has not stored
 * the inputs.
 */
export function placeToReadFrom(log: LogProgress, keepsInputs: boolean): LogPosition {
  if (!keepsInputs) log.lacksInputs = true;
  return (keepsInputs && log.lacksInputs ? undefined : log.position) ?? LOG_START;
}
