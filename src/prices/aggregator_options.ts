import type { AggregateTimes } from '../clock/aggregate_times.js';
import type { AggregateSigner } from '../crypto/aggregate_signer.js';
import type { CryptoPool } from '../crypto/pool/pool.js';
import type { LatestInput } from '../log/records/latest_input.js';
import type { Asset } from '../model/asset.js';
import type { AssetName } from '../model/asset_map.js';
import type { Catalogue } from '../model/catalogue.js';
import type { Counters } from '../model/counters.js';
import type { PriceSink } from '../model/price_sink.js';
import type { SeenUpdates } from '../model/seen_updates.js';
import type { PublisherPrice } from '../model/signed_price.js';
import type { Clock, TimeNs } from '../model/time.js';
import type { IngestWindow } from './gate.js';
export interface AggregatorOptions {
  readonly catalogue: Catalogue;
  readonly ingest: IngestWindow;
  /** The limit for each token or key. */
  readonly badSignaturesPerSecondMax: number;
  /** The limit for each asset. */
  readonly deltaAggregatesPerSecondMax: number;
  readonly parts: AggregatorParts;
  readonly hooks: AggregatorHooks;
}

/** The parts of the process that the aggregator uses. */
export interface AggregatorParts {
  readonly clock: Clock;
  readonly times: AggregateTimes;
  readonly pool: CryptoPool;
  readonly signer: () => AggregateSigner;
  /** The receiver of prices. */
  readonly sink: PriceSink;
  readonly inputs: InputStore;
  readonly counters: Counters;
}

/** The functions of the process that the aggregator calls. */
export interface AggregatorHooks {
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly nowMs: () => number;
  /** Calls back after the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
  /** Called when the updates of a message have taken effect. */
  readonly onApplied: (receivedNs: TimeNs) => void;
  readonly onSigningFailed: (count: number, error: unknown) => void;
  /** Called when the aggregator needs a tick at a time that may be earlier than the last result of {@link Aggregator.nextDueNs}. */
  readonly onDue: (timeNs: bigint) => void;
}

/**
 * A store of the latest accepted input of each publisher and asset, for the next start. The store also keeps the state that stops
 * replays of earlier inputs.
 */
export interface InputStore {
  /** @param accepted the memory of the publisher and the asset; the store may keep the input that it has at the next commit */
  putInput(asset: Asset, key: Buffer, accepted: LatestInput): void;
  inputs(): Iterable<{
    readonly asset: AssetName;
    readonly key: Buffer;
    readonly input: PublisherPrice;
    readonly seen: SeenUpdates;
  }>;
}
