import type { ListedPublisher } from '../../model/asset.js';
import type { Price } from '../../model/price.js';
import type { SignedAggregate } from '../../model/signed_price.js';
import type { TimeNs } from '../../model/time.js';
import type { CryptoJobs, VerifyJob } from '../pool/jobs.js';
import type { CryptoPool } from '../pool/pool.js';
import type { SignatureVerdict } from '../verdict.js';

/** r and then s, 32 bytes each, and the recovery bit, which is 0 for a type without `v`. */
export interface SignatureBytes {
  readonly signature: Buffer;
  readonly recovery: 0 | 1;
}

/** A publisher's price with its signature and the hash that the publisher declares. */
export interface PriceClaim extends SignatureBytes {
  readonly raw: { readonly externalAssetId: string };
  readonly asset: { readonly symbol: string };
  readonly publisher: Pick<ListedPublisher, 'key' | 'oracleId'>;
  readonly timestampNs: TimeNs;
  readonly price: Price;
  /** The declared hash: 32 bytes. */
  readonly msgHash: Buffer;
}

/** The values that a publisher's signature covers. */
export interface PriceMessage {
  readonly symbol: string;
  /** The publisher's oracle ID, which the signatures of some types cover. */
  readonly oracleId: string;
  readonly timestampNs: TimeNs;
  readonly price: Price;
}

/** The values that the service's signature of an aggregate covers. The hashes of some types cover only some of these values. */
export interface AggregateMessage {
  readonly symbol: string;
  readonly signedAtNs: TimeNs;
  readonly price: Price;
  /** The Merkle root of the inputs: 32 bytes. */
  readonly merkleRoot: Uint8Array;
  /** The algorithm's checksum: 32 bytes. */
  readonly checksum: Uint8Array;
}

/** The keys and the oracle ID with which a service signs aggregates. */
export interface AggregateKey {
  readonly key: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly oracleId: string;
}

/** The hash and the signature of an aggregate. */
export type SignedParts = Pick<SignedAggregate, 'msgHash' | 'r' | 's' | 'v'>;

/** The refusal of a price whose declared hash differs from the recomputed hash. */
export const HASH_MISMATCH = 'msg_hash does not match the asset, time and price';

/** The functions of a signature type. */
export interface SignatureRules<Job = VerifyJob> {
  /** Returns the public key of a private key. */
  publicKey(key: Uint8Array): Buffer;
  /** Returns the text of a public key, as the service shows its keys. */
  keyText(publicKey: Uint8Array): string;
  /** Makes the checks of a publisher's price that need at most one hash. @returns the job that is left, or the reason for a refusal */
  priceJob(claim: PriceClaim): Job | string;
  /** Returns the job of a signature without a declared hash. */
  messageJob(publicKey: Uint8Array, message: PriceMessage, signature: SignatureBytes, here: CryptoJobs): Job;
  /**
   * Makes the checks of an aggregate of the service that need at most one hash.
   * @param aggregate its Merkle root must be checked
   * @returns the job that is left, or the reason for a refusal
   */
  aggregateJob(
    aggregate: SignedAggregate,
    publicKey: Uint8Array,
    checksum: Uint8Array,
    oracleId: string,
  ): Job | string;
  verify(pool: CryptoPool, jobs: readonly Job[]): SignatureVerdict[] | Promise<SignatureVerdict[]>;
  /** Verifies signatures on this thread. */
  verifyHere(here: CryptoJobs, jobs: readonly Job[]): SignatureVerdict[];
  /** Verifies a signature on this thread. Makes no tables for its key if these take long. */
  verifyOne(here: CryptoJobs, job: Job): SignatureVerdict;
  /** The number of calls of {@link verifyOne} that take about 2 ms. */
  readonly jobsIn2Ms: number;
  /** Fills the tables that the first verification on a thread would fill in one turn of 0.2 s; absent without such tables. */
  readonly fillTables?: (nextTurn: (callback: () => void) => void) => Promise<void>;
  /** Signs aggregates of one time. */
  sign(
    pool: CryptoPool,
    key: AggregateKey,
    messages: readonly AggregateMessage[],
  ): readonly SignedParts[] | Promise<readonly SignedParts[]>;
}

/** Applies a function to a result of the pool, which is a promise when other threads do the work. */
export function whenDone<T, U>(result: T | Promise<T>, next: (result: T) => U): U | Promise<U> {
  return result instanceof Promise ? result.then(next) : next(result);
}
