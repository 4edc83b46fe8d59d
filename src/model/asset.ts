import type { AggregationType } from '../wire/algorithms.js';
import type { SignatureType } from '../wire/signatures.js';

export type { AggregationType, SignatureType };

/** The index of an asset in every array by asset. The index stays the same while the process runs. */
export type AssetIndex = number & { readonly assetIndex: unique symbol };

/** The index of a publisher in every array by publisher. The index stays the same while the process runs. */
export type PublisherIndex = number & { readonly publisherIndex: unique symbol };

/** The factor of percentages, which are stored as integers. For example, 0.1 % is 100_000. */
export const PERCENT_SCALE = 1_000_000;

/** An asset of the catalogue with its configuration. */
export interface Asset {
  readonly index: AssetIndex;
  /** The streaming ID, a uint16. Streams identify the asset by this ID. */
  readonly id: number;
  /** The text by which REST and publishers identify the asset. */
  readonly symbol: string;
  readonly signatureType: SignatureType;
  readonly aggregation: AggregationType;
  readonly minPublishers: number;
  readonly maxAgeNs: bigint;
  readonly clockPeriodNs: bigint;
  /** The smallest move of the price that causes a new signed aggregate immediately, in percent times {@link PERCENT_SCALE}. */
  readonly delta: bigint;
  /** The largest distance from the median at which an input counts, in percent times {@link PERCENT_SCALE}. */
  readonly maxDeviation: bigint | undefined;
  /** The rule by which a publisher whose price stands still no longer counts; `undefined` without such a rule. */
  readonly frozen: FrozenRule | undefined;
  /** The name of a calendar, or `none` for an asset that trades around the clock. */
  readonly calendar: string;
  /** The name for people, such as `Bitcoin`. */
  readonly fullName?: string | undefined;
  /** The kind of asset for people, such as `crypto`. */
  readonly assetClass?: string | undefined;
}

/** The rule by which a publisher's input counts no longer. */
export interface FrozenRule {
  /** The time for which the publisher's price has not moved, while the prices of at least two other publishers have. */
  readonly afterNs: bigint;
  /** The smallest move, in millionths of the price. */
  readonly ppm: bigint;
}

/** The assets with simulated prices: true for all assets (in a demo), false for no asset, or the streaming IDs of the simulated assets. */
export type Simulated = boolean | ReadonlySet<number>;

/** The key of a publisher. */
export interface PublisherKey {
  readonly signatureType: SignatureType;
  /** The key. For `evm`, the 20 bytes of the address. For `stark`, the 32 bytes of the public key's x coordinate. */
  readonly key: Buffer;
}

/** A key that may publish, with its configuration. */
export interface ListedPublisher extends PublisherKey {
  readonly index: PublisherIndex;
  /** The five characters in the publisher's Stark messages. */
  readonly oracleId: string | undefined;
  /** The symbols that the key may publish. `*` means all symbols. */
  readonly assets: ReadonlySet<string>;
  /** The weight in a weighted average, times {@link WEIGHT_SCALE}; above 0. */
  readonly weight: bigint;
}

/** The factor of weights, which are stored as integers. */
export const WEIGHT_SCALE = 1_000_000;
