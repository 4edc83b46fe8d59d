import type { AggregationType, SignatureType } from '../wire/signatures.js';

export type { AggregationType, SignatureType };

/** An asset's place in every table that is indexed by asset; it never changes while the process lives. */
export type AssetIndex = number & { readonly assetIndex: unique symbol };

/** A publisher's place in the list of publishers; it never changes while the process lives. */
export type PublisherIndex = number & { readonly publisherIndex: unique symbol };

/** Percentages are exact fractions: a percentage times this. 0.1 % is 100_000. */
export const PERCENT_SCALE = 1_000_000;

/** One asset of the catalogue, as the configuration defines it. */
export interface Asset {
  readonly index: AssetIndex;
  /** The uint16 by which the streaming API knows the asset. */
  readonly id: number;
  /** The text by which REST and the publishers know the asset. */
  readonly symbol: string;
  readonly signatureType: SignatureType;
  readonly aggregation: AggregationType;
  readonly minPublishers: number;
  readonly maxAgeNs: bigint;
  readonly clockPeriodNs: bigint;
  /** The move, in percent times {@link PERCENT_SCALE}, at which a new aggregate is signed at once. */
  readonly delta: bigint;
  /** The distance from the median, in percent times {@link PERCENT_SCALE}, past which an input does not count. */
  readonly maxDeviation: bigint | undefined;
  /** The name of a calendar, or `none` for an asset that trades around the clock. */
  readonly calendar: string;
}

/** One key that may publish, as the configuration allows it. */
export interface Publisher {
  readonly index: PublisherIndex;
  readonly signatureType: SignatureType;
  /** `evm`: the 20 bytes of the address. `stark`: the 32 bytes of the public key's x coordinate. */
  readonly key: Buffer;
  /** The five characters inside the publisher's Stark messages. */
  readonly oracleId: string | undefined;
  /** Symbols that the key may publish, or `*`. */
  readonly assets: ReadonlySet<string>;
  /** The weight in a weighted average times {@link WEIGHT_SCALE}; above 0. */
  readonly weight: bigint;
}

/** Weights are exact fractions: a weight times this. */
export const WEIGHT_SCALE = 1_000_000;
