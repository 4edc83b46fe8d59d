import { AssetBook } from './aggregate/book.js';
import { Triggers } from './aggregate/triggers.js';
import { type Counters, countRejection } from './counters.js';
import type { CryptoPool } from './crypto/pool.js';
import type { Candidate, Gate, PublishRights } from './ingest/gate.js';
import { readPublishMessage } from './ingest/message.js';
import type { Asset, Publisher, SignatureType } from './model/asset.js';
import type { PublisherPrice, SignedAggregate, Trigger } from './model/records.js';
import type { Clock, TimeNs } from './model/time.js';
import type { AggregateSigner, UnsignedAggregate } from './signer.js';
import type { StreamEngine } from './stream/engine.js';
import type { PriceTable } from './stream/price_table.js';
import { verifyCandidates } from './verifier.js';

export interface PipelineOptions {
  readonly assets: readonly Asset[];
  readonly clock: Clock;
  readonly gate: Gate;
  readonly pool: CryptoPool;
  readonly signer: AggregateSigner;
  readonly table: PriceTable;
  readonly stream: StreamEngine;
  readonly updatesPerMessageMax: number;
  readonly counters: Counters;
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

/** Updates that may wait for their verdict, about a second of work for one core; past it they are refused. */
const UPDATES_WAITING_MAX = 20_000;

/**
 * The whole way of a price:
 *
 *     publish: message → gate → verify → book → aggregate → table → stream
 *     sign:    trigger → inputs of the book → sign → latest
 *
 * It runs on one thread; only curve arithmetic may leave it, through the pool.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #books: readonly AssetBook[];
  readonly #triggers: Triggers;
  readonly #latest: (SignedAggregate | undefined)[];
  readonly #due: Record<SignatureType, Map<Asset, Trigger>> = { evm: new Map(), stark: new Map() };
  readonly #signing: Record<SignatureType, boolean> = { evm: false, stark: false };
  #signingDeferred = false;
  #lastSignedNs = 0n;
  #nextExpiryNs: bigint | undefined;
  #updatesWaiting = 0;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#books = options.assets.map((asset) => new AssetBook(asset));
    this.#triggers = new Triggers(options.assets, options.clock.nowNs());
    this.#latest = new Array(options.assets.length).fill(undefined);
  }

  /** The newest signed aggregate; `undefined` while the asset has no live price. */
  latest(asset: Asset): SignedAggregate | undefined {
    return this.#latest[asset.index];
  }

  get updatesWaiting(): number {
    return this.#updatesWaiting;
  }

  /** Takes one message of a publisher. Answers at once where no signature had to wait for another thread. */
  publish(session: PublisherSession, text: string): PublishOutcome | Promise<PublishOutcome> {
    const { gate, pool, counters, updatesPerMessageMax } = this.#options;
    counters.publishMessages++;
    const message = readPublishMessage(text, updatesPerMessageMax);
    if (!message.ok) {
      countRejection(counters, 'unreadable message');
      return message;
    }
    const rejected = new Map(message.malformed);
    const candidates: Candidate[] = [];
    for (const raw of message.updates) {
      const candidate =
        this.#updatesWaiting + candidates.length < UPDATES_WAITING_MAX
          ? gate.admit(raw, session.type, session.rights)
          : 'overloaded: too many updates wait for verification';
      if (typeof candidate === 'string') rejected.set(raw.symbol, candidate);
      else candidates.push(candidate);
    }
    const settle = (refusals: readonly (string | undefined)[]): PublishOutcome => {
      const accepted = this.#acceptAll(candidates, refusals, rejected);
      return { ok: true, traceId: message.traceId, accepted, rejected };
    };
    const refusals = verifyCandidates(candidates, session.type, pool);
    if (!(refusals instanceof Promise) && session.tail === undefined) return settle(refusals);

    this.#updatesWaiting += candidates.length;
    const outcome = Promise.all([refusals, session.tail]).then(([verdicts]) => {
      this.#updatesWaiting -= candidates.length;
      if (session.tail === outcome) session.tail = undefined;
      return settle(verdicts);
    });
    session.tail = outcome;
    return outcome;
  }

  /** A tick of the clock, at least every 10 ms. */
  tick(nowNs: TimeNs): void {
    if (this.#nextExpiryNs !== undefined && nowNs >= this.#nextExpiryNs) this.#expire(nowNs);
    for (const asset of this.#triggers.due(nowNs)) {
      if (this.#books[asset.index]!.price !== undefined) this.#request(asset, 'clock');
    }
    this.#options.stream.tick(nowNs);
  }

  #acceptAll(
    candidates: readonly Candidate[],
    refusals: readonly (string | undefined)[],
    rejected: Map<string, string>,
  ): string[] {
    const { gate, clock, counters } = this.#options;
    const accepted: string[] = [];
    const nowNs = clock.nowNs();
    candidates.forEach((candidate, i) => {
      const refusal = refusals[i] ?? gate.accept(candidate);
      if (refusal !== undefined) {
        rejected.set(candidate.raw.symbol, refusal);
        return;
      }
      accepted.push(candidate.raw.symbol);
      this.#put(candidate.asset, candidate.publisher, toPublisherPrice(candidate), nowNs);
    });
    counters.updatesAccepted += accepted.length;
    for (const reason of rejected.values()) countRejection(counters, reason);
    return accepted;
  }

  #put(asset: Asset, publisher: Publisher, input: PublisherPrice, nowNs: TimeNs): void {
    const book = this.#books[asset.index]!;
    book.put(publisher, input, nowNs);
    const { expiresAtNs } = book;
    if (expiresAtNs !== undefined && (this.#nextExpiryNs === undefined || expiresAtNs < this.#nextExpiryNs))
      this.#nextExpiryNs = expiresAtNs;
    this.#repriced(book);
  }

  /** The aggregate may have changed: tells the streams, and has it signed when it moved far enough. */
  #repriced({ asset, price }: AssetBook): void {
    const { table, stream, counters } = this.#options;
    if (price === undefined) {
      if (table.live[asset.index] === 0) return;
      table.clear(asset.index);
      this.#triggers.ended(asset.index);
      this.#due[asset.signatureType].delete(asset);
      this.#latest[asset.index] = undefined;
      counters.assetsEnded++;
      return;
    }
    if (table.set(asset.index, price)) stream.priceChanged(asset.index);
    if (this.#triggers.isDelta(asset, price)) this.#request(asset, 'delta');
  }

  #expire(nowNs: TimeNs): void {
    let nextNs: bigint | undefined;
    for (const book of this.#books) {
      if (book.expiresAtNs !== undefined && nowNs >= book.expiresAtNs) {
        book.expire(nowNs);
        this.#repriced(book);
      }
      const { expiresAtNs } = book;
      if (expiresAtNs !== undefined && (nextNs === undefined || expiresAtNs < nextNs)) nextNs = expiresAtNs;
    }
    this.#nextExpiryNs = nextNs;
  }

  #request(asset: Asset, trigger: Trigger): void {
    const due = this.#due[asset.signatureType];
    // A delta that waits for its signature is not turned into a clock by the period coming round.
    if (!due.has(asset)) due.set(asset, trigger);
    if (this.#signingDeferred) return;
    this.#signingDeferred = true;
    this.#options.defer(() => {
      this.#signingDeferred = false;
      this.#signDue('evm');
      this.#signDue('stark');
    });
  }

  /**
   * Signs what is due as one batch. While a batch is out, requests gather for the next one, so an asset's aggregates
   * come back in the order of their times and a slow signer makes batches larger, not queues longer.
   */
  #signDue(type: SignatureType): void {
    const due = this.#due[type];
    if (this.#signing[type] || due.size === 0) return;
    const { clock, signer, counters } = this.#options;
    const signedAtNs = this.#nextSigningTime(clock.nowNs());
    const batch: UnsignedAggregate[] = [];
    for (const [asset, trigger] of due) {
      const book = this.#books[asset.index]!;
      // The price is defined: an asset that loses its price is no longer due.
      const price = book.price!;
      batch.push({ asset, trigger, price, inputs: book.counted(), signedAtNs });
      this.#triggers.signed(asset.index, price);
    }
    due.clear();
    const signed = signer.sign(type, batch);
    if (!(signed instanceof Promise)) {
      this.#record(signed);
      return;
    }
    this.#signing[type] = true;
    signed
      .then((aggregates) => this.#record(aggregates))
      .catch(() => {
        counters.signingFailures += batch.length;
      })
      .finally(() => {
        this.#signing[type] = false;
        this.#signDue(type);
      });
  }

  #record(aggregates: readonly SignedAggregate[]): void {
    const { table, counters } = this.#options;
    for (const aggregate of aggregates) {
      const { index } = aggregate.asset;
      // It may have lost its price while the signature was made.
      if (table.live[index] === 1) this.#latest[index] = aggregate;
      counters.aggregatesSigned++;
    }
  }

  /** Grows with every batch, so no signature carries an earlier time than the one before, whatever the clock does. */
  #nextSigningTime(nowNs: TimeNs): TimeNs {
    this.#lastSignedNs = nowNs > this.#lastSignedNs ? nowNs : this.#lastSignedNs + 1n;
    return this.#lastSignedNs as TimeNs;
  }
}

function toPublisherPrice({ raw, asset, publisher, price, timestampNs, msgHash }: Candidate): PublisherPrice {
  return {
    assetIndex: asset.index,
    publisherIndex: publisher.index,
    price,
    timestampNs,
    msgHash,
    wire: {
      publisherKey: raw.publisherKey,
      externalAssetId: raw.externalAssetId,
      price: raw.price,
      r: raw.r,
      s: raw.s,
      v: raw.v,
      msgHash: raw.msgHash,
      metadata: raw.metadata,
    },
  };
}
