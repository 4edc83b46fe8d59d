import type { Asset } from '../../model/asset.js';
import type { AssetName } from '../../model/asset_map.js';
import type { Priced } from '../../model/price_sink.js';
import type { LivePrice } from '../../model/price_with_quality.js';
import type { TimeNs } from '../../model/time.js';
import type { Holding } from '../records/holding.js';

/**
 * The messages to an edge, in order. On the main thread the messages are calls. Other threads receive the messages as bytes. Each
 * message about an asset has a position. An edge that has missed a message receives the whole state again.
 */
export interface Feed extends FeedMessages {
  /** Receives the whole state at a position, which replaces the effect of all earlier messages. */
  begin(snapshot: Snapshot): void;
}

/** The messages of a feed about changes of the state. */
export interface FeedMessages {
  priced(message: FeedPosition & Priced): void;
  /** Notes that the store has a new record of an asset. The record is the asset's newest aggregate, or the end of its aggregates. */
  recorded(message: FeedPosition & Recorded): void;
  /** Notes that the service no longer serves the asset's newest aggregate, because the aggregate's inputs are too old. */
  withdrawn(message: FeedPosition & About): void;
  /** Notes that the asset no longer has a live price. */
  ended(message: FeedPosition & About & { readonly atNs: TimeNs }): void;
  /**
   * Notes that all effects of a publisher's message have been reported.
   * @param receivedNs the time at which the message was received
   */
  applied(receivedNs: TimeNs): void;
}

/** The position of a message among all messages of one feed. If a sequence is missing, the edge has missed a message. */
export interface FeedPosition {
  /** The number of the start of the process. A later start has a greater epoch. */
  readonly epoch: number;
  /** The number of the message. All messages of an epoch share one count from 1. */
  readonly sequence: number;
}

/** An asset of this thread's current catalogue, or the name of an asset outside the catalogue. A cluster's log may contain such assets. */
export type FedAsset = Asset | (AssetName & { readonly index?: undefined });

export interface About {
  readonly asset: FedAsset;
}

export interface Recorded extends About {
  readonly holding: Holding;
}

/** The state of all live assets. */
export interface Snapshot extends FeedPosition {
  readonly live: readonly LiveAsset[];
}

/** An asset with a live price, a signed aggregate, or both. */
export interface LiveAsset extends About {
  readonly live: LivePrice | undefined;
  /** The newest aggregate of the asset. */
  readonly holding: Holding | undefined;
}
