import { AssetBook } from '../aggregate/book.js';
import { Triggers } from '../aggregate/triggers.js';
import type { AggregateTimes } from '../clock/aggregate_times.js';
import type { CryptoPool } from '../crypto/pool.js';
import {
  type Candidate,
  Gate,
  type IngestWindow,
  type PublishRights,
  toPublisherPrice,
} from '../ingest/gate.js';
import { readPublishMessage } from '../ingest/message.js';
import { type Counters, countRejection } from '../metrics/counters.js';
import type { Asset, Publisher, SignatureType } from '../model/asset.js';
import type { Catalogue } from '../model/catalogue.js';
import type { PublisherPrice, SignedAggregate } from '../model/signed_price.js';
import { type Clock, NS_PER_MS, secondOf, type TimeNs } from '../model/time.js';
import type { Store } from '../store/store.js';
import type { StreamEngine } from '../stream/engine.js';
import { TICK_MS } from '../stream/options.js';
import type { PriceTable } from '../stream/price_table.js';
import { Admission } from './admission.js';
import type { AggregateSigner } from './aggregate_signer.js';
import { SigningQueue } from './signing_queue.js';
import { verifyCandidates } from './verifier.js';

export interface PipelineOptions {
  readonly catalogue: Catalogue;
  readonly ingest: IngestWindow;
  readonly clock: Clock;
  readonly times: AggregateTimes;
  readonly pool: CryptoPool;
  readonly signer: () => AggregateSigner;
  readonly table: PriceTable;
  readonly stream: StreamEngine;
  readonly store: Pick<Store, 'append' | 'ended' | 'putInput' | 'latest' | 'inputs'>;
  readonly updatesPerMessageMax: number;
  /** Per session. */
  readonly badSignaturesPerSecondMax: number;
  readonly counters: Counters;
  /** Told of aggregates that could not be signed. */
  readonly onSigningFailed: (count: number, error: unknown) => void;
  /** Calls back when the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
}

/** One publisher socket: its messages take effect in the order they came. */
export interface PublisherSession {
  readonly type: SignatureType;
  readonly rights: PublishRights;
  /** The message before, while its signatures are being verified. */
  tail: Promise<unknown> | undefined;
}

/** What became of one publish message. */
export type PublishOutcome =
  | {
      readonly ok: true;
      readonly traceId: string | undefined;
      readonly accepted: readonly string[];
      /** Symbol to reason. */
      readonly rejected: ReadonlyMap<string, string>;
    }
  | { readonly ok: false; readonly traceId: string | undefined; readonly error: string };

/**
 * The whole way of a price:
 *
 *     publish: message → gate → verify → book (→ store) → aggregate → table → stream
 *     sign:    trigger → inputs of the book → sign → latest (→ store: recent seconds, candles)
 *
 * It runs on one thread; only curve arithmetic may leave it, through the pool.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #gate: Gate;
  readonly #admission: Admission;
  readonly #books: AssetBook[];
  readonly #signing: SigningQueue;
  /** By asset index; `undefined` while the asset has no live price. */
  readonly #latest: (SignedAggregate | undefined)[] = [];
  #catalogue: Catalogue;
  #triggers: Triggers;
  #nextExpiryNs: bigint | undefined;
  #nextTickNs = 0n;

  constructor(options: PipelineOptions) {
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
      onSigned: (aggregates) => this.#keep(aggregates),
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

  /** The newest signed aggregate; `undefined` while the asset has no live price. */
  latest(asset: Asset): SignedAggregate | undefined {
    return this.#latest[asset.index];
  }

  get updatesWaiting(): number {
    return this.#admission.waiting;
  }

  /** Takes up what the store kept: inputs that still count make prices again, as if there had been no restart. */
  restore(): void {
    const { store, clock } = this.#options;
    const { assets, publishers, listed } = this.#catalogue;
    const nowNs = clock.nowNs();
    for (const input of store.inputs()) {
      const publisher = publishers[input.publisherIndex]!;
      this.#gate.restore(assets[input.assetIndex]!, publisher, input.timestampNs, input.msgHash);
      this.#books[input.assetIndex]!.put(publisher, input, nowNs);
    }
    for (const asset of listed) {
      const book = this.#books[asset.index]!;
      this.#expireWith(book);
      const last = store.latest(asset);
      if (book.price !== undefined) {
        this.#latest[asset.index] = last;
        this.#repriced(book, nowNs);
      } else if (last !== undefined) {
        store.ended(asset, endOf(last, nowNs));
      }
    }
  }

  /** Puts a changed catalogue in force; the table and the streams already have it. */
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
      const listed = catalogue.isListed(asset);
      const fits = listed && book.asset.signatureType === asset.signatureType;
      book.reload(
        asset,
        (publisher) => (fits ? catalogue.currentPublisher(publisher, asset.symbol) : undefined),
        nowNs,
      );
      this.#expireWith(book);
      this.#repriced(book, nowNs);
    }
  }

  /** Takes one message of a publisher. Answers at once where no signature had to wait for another thread. */
  publish(session: PublisherSession, text: string): PublishOutcome | Promise<PublishOutcome> {
    const { pool, counters, clock, table, updatesPerMessageMax } = this.#options;
    counters.publishMessages++;
    const message = readPublishMessage(text, updatesPerMessageMax);
    if (!message.ok) {
      countRejection(counters, 'unreadable message');
      return message;
    }
    const { updates, malformed, traceId } = message;
    const receivedNs = clock.nowNs();
    // Messages that came together are handled in one turn, and a tick that is due meanwhile would wait for the last.
    if (receivedNs >= this.#nextTickNs) this.tick(receivedNs);
    const admitted = this.#admission.admit(updates, session, secondOf(receivedNs));
    const { candidates } = admitted;
    const rejected = new Map([...malformed, ...admitted.rejected]);
    const settle = (refusals: readonly (string | undefined)[]): PublishOutcome => {
      admitted.settle(refusals, secondOf(clock.nowNs()));
      const accepted = this.#acceptAll(candidates, refusals, rejected);
      counters.frameLatency.received(table.sequence, receivedNs);
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

  /** A tick of the clock, at least every {@link TICK_NS}. */
  tick(nowNs: TimeNs): void {
    this.#nextTickNs = (nowNs / TICK_NS + 1n) * TICK_NS;
    if (this.#nextExpiryNs !== undefined && nowNs >= this.#nextExpiryNs) this.#expire(nowNs);
    for (const { index } of this.#triggers.due(nowNs)) {
      const { asset, price } = this.#books[index]!;
      if (price !== undefined) this.#signing.request(asset, 'clock');
    }
    this.#signing.tick(nowNs);
    this.#options.stream.tick(nowNs);
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
      this.#put(publisher, toPublisherPrice(candidate), nowNs);
    });
    counters.updatesAccepted += accepted.length;
    for (const reason of rejected.values()) countRejection(counters, reason);
    return accepted;
  }

  #put(publisher: Publisher, input: PublisherPrice, nowNs: TimeNs): void {
    const book = this.#books[input.assetIndex]!;
    book.put(publisher, input, nowNs);
    this.#options.store.putInput(input);
    this.#expireWith(book);
    this.#repriced(book, nowNs);
  }

  /** The aggregate may have changed: tells the streams, and has it signed when it moved far enough. */
  #repriced({ asset, price }: AssetBook, nowNs: TimeNs): void {
    const { table, stream, store, counters } = this.#options;
    if (price !== undefined) {
      if (table.set(asset.index, price)) stream.priceChanged(asset.index);
      if (this.#triggers.isDelta(asset, price)) this.#signing.request(asset, 'delta');
    } else if (table.live[asset.index] === 1) {
      table.clear(asset.index);
      this.#triggers.ended(asset.index);
      this.#latest[asset.index] = undefined;
      store.ended(asset, nowNs);
      counters.assetsEnded++;
    }
  }

  #expire(nowNs: TimeNs): void {
    this.#nextExpiryNs = undefined;
    for (const book of this.#books) {
      if (book.expiresAtNs !== undefined && nowNs >= book.expiresAtNs) {
        book.expire(nowNs);
        this.#repriced(book, nowNs);
      }
      this.#expireWith(book);
    }
  }

  #expireWith({ expiresAtNs }: AssetBook): void {
    if (expiresAtNs !== undefined && (this.#nextExpiryNs === undefined || expiresAtNs < this.#nextExpiryNs))
      this.#nextExpiryNs = expiresAtNs;
  }

  #keep(aggregates: readonly SignedAggregate[]): void {
    const { table, store, counters } = this.#options;
    counters.aggregatesSigned += aggregates.length;
    for (const aggregate of aggregates) {
      const { index } = aggregate.asset;
      // It may have lost its price while the signature was made.
      if (table.live[index] === 0) continue;
      this.#latest[index] = aggregate;
      store.append(aggregate);
    }
  }
}

const TICK_NS = BigInt(TICK_MS) * NS_PER_MS;

/** When the last aggregate of a price that is over lost its inputs to `max_age`, though nobody was there to see it. */
function endOf({ asset, inputs }: SignedAggregate, nowNs: TimeNs): TimeNs {
  const newestFirst = inputs.map(({ timestampNs }) => timestampNs).sort((a, b) => (a < b ? 1 : -1));
  const lastNeeded = newestFirst[asset.minPublishers - 1] ?? newestFirst.at(-1)!;
  const endNs = lastNeeded + asset.maxAgeNs + 1n;
  return (endNs < nowNs ? endNs : nowNs) as TimeNs;
}
