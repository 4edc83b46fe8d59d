import type { AggregationType, SignatureType } from '../wire/signatures.js';

export type { AggregationType, SignatureType };

/** An asset's place in every array by asset; it stays the same while the process runs. */
export type AssetIndex = number & { readonly assetIndex: unique symbol };

/** A publisher's place in every array by publisher; it stays the same while the process runs. */
export type PublisherIndex = number & { readonly publisherIndex: unique symbol };

/** The factor of percentages, which are stored as integers. 0.1 % is 100_000. */
export const PERCENT_SCALE = 1_000_000;

/** An asset of the catalogue, as the configuration defines it. */
export interface Asset {
  readonly index: AssetIndex;
  /** The streaming ID: the uint16 by which streams name the asset. */
  readonly id: number;
  /** The text by which REST and publishers name the asset. */
  readonly symbol: string;
  readonly signatureType: SignatureType;
  readonly aggregation: AggregationType;
  readonly minPublishers: number;
  readonly maxAgeNs: bigint;
  readonly clockPeriodNs: bigint;
  /** The move of the price that signs a new aggregate at once, in percent times {@link PERCENT_SCALE}. */
  readonly delta: bigint;
  /** The largest distance from the median at which an input counts, in percent times {@link PERCENT_SCALE}. */
  readonly maxDeviation: bigint | undefined;
  /** The name of a calendar, or `none` for an asset that trades around the clock. */
  readonly calendar: string;
}

/** A key that may publish, as the configuration allows it. */
export interface ListedPublisher {
  readonly index: PublisherIndex;
  readonly signatureType: SignatureType;
  /** `evm`: the 20 bytes of the address. `stark`: the 32 bytes of the public key's x coordinate. */
  readonly key: Buffer;
  /** The five characters in the publisher's Stark messages. */
  readonly oracleId: string | undefined;
  /** Symbols that the key may publish, or `*`. */
  readonly assets: ReadonlySet<string>;
  /** The weight in a weighted average times {@link WEIGHT_SCALE}; above 0. */
  readonly weight: bigint;
}

/** The factor of weights, which are stored as integers. */
export const WEIGHT_SCALE = 1_000_000;
