import type { AggregateTimes } from '../clock/aggregate_times.js';
import type { AggregateSigner } from '../crypto/aggregate_signer.js';
import type { Asset, AssetIndex, SignatureType } from '../model/asset.js';
import type { SignedAggregate, Trigger, UnsignedAggregate } from '../model/signed_price.js';
import { earlierOf, type TimeNs } from '../model/time.js';
import { bySignatureType, SIGNATURE_TYPES } from '../wire/signatures.js';
import type { AssetBook } from './books/book.js';

export interface SigningOptions {
  readonly times: AggregateTimes;
  readonly signer: () => AggregateSigner;
  readonly bookOf: (index: AssetIndex) => AssetBook;
  /** Called at the moment of signing, with the book of the price. */
  readonly onTaken: (book: AssetBook, trigger: Trigger) => void;
  readonly onSigned: (aggregates: readonly SignedAggregate[]) => void;
  readonly onFailed: (count: number, error: unknown) => void;
  /** Called for each due aggregate that will never be signed, because there was no usable time. */
  readonly onDropped: () => void;
  /** Called when there is no usable time. {@link SigningQueue.tick} tries again. */
  readonly onWaiting: () => void;
  /** Calls back after the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
}

/**
 * Signs due aggregates in batches of one signature type. While a batch is being signed, new requests gather for the next batch.
 * So the queue returns an asset's aggregates in the order of their times. With a slow signer, batches become larger instead of
 * more numerous.
 */
export class SigningQueue {
  readonly #options: SigningOptions;
  readonly #due: Record<SignatureType, Map<AssetIndex, Trigger>> = bySignatureType(() => new Map());
  /** The time of the batch whose signing is in progress, for each signature type. */
  readonly #signing: Record<SignatureType, TimeNs | undefined> = bySignatureType(() => undefined);
  #deferred = false;

  constructor(options: SigningOptions) {
    this.#options = options;
  }

  /** Requests a signature of the asset's aggregate within this turn of the event loop, or after the current batch. */
  request({ index, signatureType }: Asset, trigger: Trigger): void {
    const due = this.#due[signatureType];
    // The new request replaces the earlier due aggregate. That aggregate is never signed, because there is no usable time now.
    if (due.has(index) && this.#options.times.isWaiting) this.#options.onDropped();
    // A due delta stays a delta until it is signed, even if a period ends earlier.
    if (!due.has(index)) due.set(index, trigger);
    if (this.#deferred) return;
    this.#deferred = true;
    this.#options.defer(() => {
      this.#deferred = false;
      this.#signDue();
    });
  }

  /** The earliest time of the aggregates whose signing is in progress; `undefined` without such aggregates. */
  get signingSinceNs(): bigint | undefined {
    return Object.values(this.#signing).reduce<bigint | undefined>(earlierOf, undefined);
  }

  /** Signs the aggregates that had to wait for a usable time. */
  tick(nowNs: TimeNs): void {
    const { times } = this.#options;
    times.tick(nowNs);
    if (times.isWaiting && !this.#deferred) this.#signDue();
  }

  #signDue(): void {
    for (const type of SIGNATURE_TYPES) this.#signQueued(type);
  }

  #signQueued(type: SignatureType): void {
    const due = this.#due[type];
    if (this.#signing[type] !== undefined || due.size === 0) return;
    const { times, signer, bookOf, onTaken, onSigned, onFailed, onWaiting } = this.#options;
    const signedAtNs = times.next();
    if (signedAtNs === undefined) {
      onWaiting();
      return;
    }
    const batch: UnsignedAggregate[] = [];
    for (const [index, trigger] of due) {
      const book = bookOf(index);
      const { asset, price } = book;
      // The asset may have lost its price while its aggregate waited.
      if (price === undefined) continue;
      batch.push({ asset, trigger, price, inputs: book.counted(), signedAtNs });
      onTaken(book, trigger);
    }
    due.clear();
    if (batch.length === 0) return;
    const signed = signer().sign(type, batch);
    if (!(signed instanceof Promise)) {
      onSigned(signed);
      return;
    }
    this.#signing[type] = signedAtNs;
    signed
      .then(onSigned, (error) => onFailed(batch.length, error))
      .finally(() => {
        this.#signing[type] = undefined;
        this.#signQueued(type);
      });
  }
}
