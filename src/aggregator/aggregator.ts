import { AssetBook } from '../aggregate/book.js';
import { Triggers } from '../aggregate/triggers.js';
import type { AggregateTimes } from '../clock/aggregate_times.js';
import type { AggregateSigner } from '../crypto/aggregate_signer.js';
import type { CryptoPool } from '../crypto/pool.js';
import { type Candidate, Gate, type IngestWindow, toPublisherPrice } from '../ingest/gate.js';
import { readPublishMessage } from '../ingest/message.js';
import { type Counters, countRejection } from '../metrics/counters.js';
import type { Asset, Publisher } from '../model/asset.js';
import type { AssetName } from '../model/asset_map.js';
import type { Catalogue } from '../model/catalogue.js';
import type { Price } from '../model/price.js';
import type { PriceSink } from '../model/price_sink.js';
import type { SeenUpdates } from '../model/seen_updates.js';
import type { PublisherPrice, SignedAggregate } from '../model/signed_price.js';
import { type Clock, secondOf, type TimeNs } from '../model/time.js';
import { Admission } from './admission.js';
import type { PublisherSession, PublishOutcome } from './session.js';
import { SigningQueue } from './signing_queue.js';
import { verifyCandidates } from './verifier.js';

export interface AggregatorOptions {
  readonly catalogue: Catalogue;
  readonly ingest: IngestWindow;
  readonly clock: Clock;
  readonly times: AggregateTimes;
  readonly pool: CryptoPool;
  readonly signer: () => AggregateSigner;
  /** Where prices go. */
  readonly sink: PriceSink;
  /** This run's number; greater than that of every run before. */
  readonly epoch: number;
  readonly inputs: InputStore;
  readonly updatesPerMessageMax: number;
  /** Per session. */
  readonly badSignaturesPerSecondMax: number;
  readonly counters: Counters;
  /** Called when the updates of a message have taken effect. */
  readonly onApplied: (receivedNs: TimeNs) => void;
  readonly onSigningFailed: (count: number, error: unknown) => void;
  /** Calls back when the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
}

/** Keeps the latest accepted input of each publisher and asset over a restart, and what stops replays of earlier ones. */
export interface InputStore {
  putInput(asset: Asset, key: Buffer, input: PublisherPrice, seen: SeenUpdates): void;
  inputs(): Iterable<{
    readonly asset: AssetName;
    readonly key: Buffer;
    readonly input: PublisherPrice;
    readonly seen: SeenUpdates | undefined;
  }>;
}

/**
 * Makes prices. The whole way of one:
 *
 *     receive: message → gate → verify → book (→ input store) → aggregate → sink.priced
 *     sign:    trigger → inputs of the book → sign → sink.signed
 *
 * It runs on one thread; only curve arithmetic may leave it, through the pool.
 */
export class Aggregator {
  readonly #options: AggregatorOptions;
  readonly #gate: Gate;
  readonly #admission: Admission;
  /** By asset index, as the next. */
  readonly #books: AssetBook[];
  /** The live price that the sink knows; `undefined` where there is none. */
  readonly #told: (Price | undefined)[] = [];
  readonly #signing: SigningQueue;
  #catalogue: Catalogue;
  #triggers: Triggers;
  #nextExpiryNs: bigint | undefined;
  #sequence = 0;

  constructor(options: AggregatorOptions) {
    const { catalogue, ingest, clock, times, signer, counters, defer, onSigningFailed } = options;
    this.#options = options;
    this.#catalogue = catalogue;
    this.#gate = new Gate(catalogue, clock, ingest);
    this.#admission = new Admission(this.#gate, options.badSignaturesPerSecondMax);
    this.#books = catalogue.assets.map((asset) => new AssetBook(asset));
    this.#triggers = new Triggers(catalogue.listed, clock.nowNs());
    this.#signing = new SigningQueue({
      times,
      signer,
      bookOf: (index) => this.#books[index]!,
      onTaken: ({ asset, price }) => this.#triggers.signed(asset.index, price!),
      onSigned: (aggregates) => this.#tellSigned(aggregates),
      onFailed: (count, error) => {
        counters.signingFailures += count;
        onSigningFailed(count, error);
      },
      onDropped: () => {
        counters.signingFailures++;
      },
      defer,
    });
  }

  get updatesWaiting(): number {
    return this.#admission.waiting;
  }

  /** Takes up the inputs that the store kept: those that still count make prices again, as if there had been no restart. */
  restore(): void {
    const { inputs, clock } = this.#options;
    const nowNs = clock.nowNs();
    for (const { asset: name, key, input, seen } of inputs.inputs()) {
      const asset = this.#catalogue.findAsset(name.symbol, name.signatureType);
      const publisher = this.#catalogue.publisherByKey(name.signatureType, key);
      if (asset === undefined || publisher === undefined) continue;
      this.#gate.restore(asset, publisher, input.timestampNs, seen);
      this.#books[asset.index]!.put(publisher, input, nowNs);
    }
    for (const { index } of this.#catalogue.listed) {
      this.#noteExpiry(this.#books[index]!);
      this.#tellPrice(this.#books[index]!, nowNs);
    }
  }

  /** Puts a changed catalogue in force; the sink already has it. */
  reload(catalogue: Catalogue): void {
    const nowNs = this.#options.clock.nowNs();
    this.#catalogue = catalogue;
    this.#gate.reload(catalogue);
    this.#triggers = new Triggers(catalogue.listed, nowNs, this.#triggers);
    for (const asset of catalogue.assets) {
      const book = this.#books[asset.index];
      if (book === undefined) {
        this.#books.push(new AssetBook(asset));
        continue;
      }
      const isListed = catalogue.isListed(asset);
      book.reload(
        asset,
        (publisher) => (isListed ? catalogue.currentPublisher(publisher, asset.symbol) : undefined),
        nowNs,
      );
      this.#noteExpiry(book);
      this.#tellPrice(book, nowNs);
    }
  }

  /** Takes one message of a publisher. Answers at once where no signature had to wait for another thread. */
  receive(session: PublisherSession, text: string): PublishOutcome | Promise<PublishOutcome> {
    const { pool, counters, clock, updatesPerMessageMax, onApplied } = this.#options;
    counters.publishMessages++;
    const message = readPublishMessage(text, updatesPerMessageMax);
    if (!message.ok) {
      countRejection(counters, 'unreadable message');
      return message;
    }
    const { updates, malformed, traceId } = message;
    const receivedNs = clock.nowNs();
    const admitted = this.#admission.admit(updates, session, secondOf(receivedNs));
    const { candidates } = admitted;
    const rejected = new Map([...malformed, ...admitted.rejected]);
    const settle = (refusals: readonly (string | undefined)[]): PublishOutcome => {
      admitted.settle(refusals, secondOf(clock.nowNs()));
      const accepted = this.#acceptAll(candidates, refusals, rejected);
      onApplied(receivedNs);
      return { ok: true, traceId, accepted, rejected };
    };
    const refusals = verifyCandidates(candidates, session.type, pool);
    if (!(refusals instanceof Promise) && session.tail === undefined) return settle(refusals);

    const outcome = Promise.all([refusals, session.tail]).then(([verdicts]) => {
      if (session.tail === outcome) session.tail = undefined;
      return settle(verdicts);
    });
    session.tail = outcome;
    return outcome;
  }

  /** A tick of the clock: inputs that are too old leave, and what is due by the clock is signed. */
  tick(nowNs: TimeNs): void {
    if (this.#nextExpiryNs !== undefined && nowNs >= this.#nextExpiryNs) this.#expire(nowNs);
    for (const { index } of this.#triggers.due(nowNs)) {
      const { asset, price } = this.#books[index]!;
      if (price !== undefined) this.#signing.request(asset, 'clock');
    }
    this.#signing.tick(nowNs);
  }

  #acceptAll(
    candidates: readonly Candidate[],
    refusals: readonly (string | undefined)[],
    rejected: Map<string, string>,
  ): string[] {
    const { clock, counters } = this.#options;
    const accepted: string[] = [];
    const nowNs = clock.nowNs();
    candidates.forEach((candidate, i) => {
      const refusal = refusals[i] ?? this.#gate.accept(candidate);
      if (refusal !== undefined) {
        rejected.set(candidate.raw.symbol, refusal);
        return;
      }
      accepted.push(candidate.raw.symbol);
      // As it is configured now, which may have changed while the signature was verified.
      const publisher = this.#catalogue.publishers[candidate.publisher.index]!;
      this.#put(publisher, candidate, nowNs);
    });
    counters.updatesAccepted += accepted.length;
    for (const reason of rejected.values()) countRejection(counters, reason);
    return accepted;
  }

  #put(publisher: Publisher, candidate: Candidate, nowNs: TimeNs): void {
    const { asset } = candidate;
    const input = toPublisherPrice(candidate);
    const book = this.#books[asset.index]!;
    book.put(publisher, input, nowNs);
    this.#options.inputs.putInput(asset, publisher.key, input, this.#gate.seen(candidate));
    this.#noteExpiry(book);
    this.#tellPrice(book, nowNs);
  }

  #expire(nowNs: TimeNs): void {
    this.#nextExpiryNs = undefined;
    for (const book of this.#books) {
      if (book.expiresAtNs !== undefined && nowNs >= book.expiresAtNs) {
        book.expire(nowNs);
        this.#tellPrice(book, nowNs);
      }
      this.#noteExpiry(book);
    }
  }

  #noteExpiry({ expiresAtNs }: AssetBook): void {
    if (expiresAtNs !== undefined && (this.#nextExpiryNs === undefined || expiresAtNs < this.#nextExpiryNs))
      this.#nextExpiryNs = expiresAtNs;
  }

  /** Tells the sink when the aggregate has changed, and has it signed when it moved far enough. */
  #tellPrice({ asset, price }: AssetBook, nowNs: TimeNs): void {
    const { sink, epoch, counters } = this.#options;
    const { index, id, symbol, signatureType } = asset;
    const known = this.#told[index];
    this.#told[index] = price;
    if (price !== undefined) {
      if (price !== known) sink.priced({ epoch, sequence: ++this.#sequence, streamingId: id, price });
      if (this.#triggers.isDelta(asset, price)) this.#signing.request(asset, 'delta');
    } else if (known !== undefined) {
      this.#triggers.ended(index);
      sink.ended({ epoch, sequence: ++this.#sequence, symbol, signatureType, atNs: nowNs });
      counters.assetsEnded++;
    }
  }

  #tellSigned(aggregates: readonly SignedAggregate[]): void {
    const { sink, epoch, counters } = this.#options;
    counters.aggregatesSigned += aggregates.length;
    for (const aggregate of aggregates) {
      const asset = this.#catalogue.findAsset(aggregate.symbol, aggregate.signatureType);
      // It may have lost its price while the signature was made.
      if (asset !== undefined && this.#told[asset.index] !== undefined)
        sink.signed({ epoch, sequence: ++this.#sequence, aggregate });
    }
  }
}
