import type { Asset } from '../model/asset.js';
import type { AssetName } from '../model/asset_map.js';
import type { Ended, Priced } from '../model/price_sink.js';
import type { TimeNs } from '../model/time.js';
import type { Holding } from '../records/second_record.js';
import type { Commit } from '../store/store.js';

/**
 * The messages to an edge, in order: on the main thread as calls, on another one as bytes. Each message of a price has its
 * position. An edge that has missed a message receives everything again.
 */
export interface Feed {
  /** Receives the whole state at a position. Earlier messages no longer count. */
  begin(snapshot: Snapshot): void;
  priced(message: FeedPosition & Priced): void;
  /** Notes that the store has a new record of an asset: its newest aggregate, or the end of its aggregates. */
  recorded(message: FeedPosition & Recorded): void;
  /** Notes that the asset's newest aggregate is no longer served, because its inputs are too old. */
  withdrawn(message: FeedPosition & About): void;
  /** Notes that the asset has no live price any more. */
  ended(message: FeedPosition & About & Pick<Ended, 'atNs'>): void;
  /** Notes that the updates of a publisher's message, received at this time, have been reported. */
  applied(receivedNs: TimeNs): void;
  /** Notes that the store writes all records so far to the disk. */
  committing(commit: Commit): void;
  committed(isOnDisk: boolean): void;
}

/** The place of a message among all messages of one feed. When a number is missing, the edge has missed a message. */
export interface FeedPosition {
  /** The start of the process; a later one has a greater epoch. */
  readonly epoch: number;
  /** The number of the message: counts the messages of an epoch from 1, all kinds together. */
  readonly sequence: number;
}

/** An asset of the catalogue in force on this thread, or the name of an asset that the catalogue lacks: the log of a cluster may have one. */
export type FedAsset = Asset | (AssetName & { readonly index?: undefined });

export interface About {
  readonly asset: FedAsset;
}

export interface Recorded extends About {
  readonly holding: Holding;
}

/** The whole table. */
export interface Snapshot extends FeedPosition {
  readonly live: readonly LiveAsset[];
}

/** An asset that has a live price, a signed aggregate, or both. */
export interface LiveAsset extends About {
  readonly price: Priced['price'] | undefined;
  /** The newest aggregate. */
  readonly holding: Holding | undefined;
}
