import type { InputTexts } from '../wire/aggregate_line.js';
import { type TRIGGERS, WORD_BYTES } from '../wire/signatures.js';
import type { AggregationType, Asset, SignatureType } from './asset.js';
import { parseHex } from './hex.js';
import type { Price } from './price.js';
import type { TimeNs } from './time.js';

/** The reason why an aggregate was signed: its period ended, or its price moved far enough. */
export type Trigger = (typeof TRIGGERS)[number];

/**
 * A publisher's signed price that passed every check. The texts come from the publisher, and the service passes them on unchanged. The
 * service computes with the bytes and integers.
 */
export interface PublisherPrice {
  readonly price: Price;
  readonly timestampNs: TimeNs;
  readonly wire: InputTexts;
}

/**
 * Returns the 32 big-endian bytes of the publisher's `msg_hash`. The service has recomputed and checked this hash. The hash is a leaf
 * of the Merkle tree. The object keeps only the text of the hash, because one small buffer would keep all buffers alive that share its
 * memory.
 */
export function msgHashOf({ wire }: PublisherPrice): Buffer {
  return parseHex(wire.msgHash, WORD_BYTES)!;
}

/**
 * Returns the place of an input among the inputs of another aggregate; -1 if it is not there.
 * @param likely the place that is tried first: successive aggregates have most inputs at the same places
 */
export function placeAmong(inputs: readonly PublisherPrice[], input: PublisherPrice, likely: number): number {
  return inputs[likely] === input ? likely : inputs.indexOf(input);
}

/** The latest input of a publisher for an asset. Its values change when the publisher's next input is accepted. */
export interface KeptInput {
  readonly price: Price;
  readonly timestampNs: TimeNs;
  /** Returns the input as it is now. */
  take(): PublisherPrice;
}

/** An aggregate before it is signed. */
export interface UnsignedAggregate {
  readonly asset: Asset;
  readonly trigger: Trigger;
  readonly price: Price;
  /** The inputs, ascending by publisher key. There is at least one input. */
  readonly inputs: readonly PublisherPrice[];
  readonly signedAtNs: TimeNs;
}

/** An aggregate with the service's signature. REST serves the aggregate, and the store keeps the aggregate. */
export interface SignedAggregate {
  readonly symbol: string;
  readonly trigger: Trigger;
  readonly price: Price;
  /** The newest timestamp of the inputs. */
  readonly timestampNs: TimeNs;
  /** The time at which the service signed. */
  readonly signedAtNs: TimeNs;
  readonly signatureType: SignatureType;
  /** The key in `0x` hex: for `evm` the address with its checksum, for `stark` the public key's x coordinate. */
  readonly publicKey: string;
  readonly msgHash: Uint8Array;
  readonly r: Uint8Array;
  readonly s: Uint8Array;
  /** The recovery value, 27 or 28; `undefined` in Stark signatures. */
  readonly v: number | undefined;
  readonly merkleRoot: Uint8Array;
  readonly algorithm: AggregationType;
  /** The inputs, sorted by publisher key. */
  readonly inputs: readonly PublisherPrice[];
}
