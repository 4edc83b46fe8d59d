import type { LatestInput } from '../log/records/latest_input.js';
import type { Asset } from '../model/asset.js';
import type { Catalogue } from '../model/catalogue.js';
import { isSameLivePrice, type LivePrice } from '../model/price_with_quality.js';
import type { SignedAggregate } from '../model/signed_price.js';
import { earlierOf, NS_PER_MS, nextMultiple, type TimeNs } from '../model/time.js';
import type { Activity } from './activity.js';
import type { AggregatorOptions } from './aggregator_options.js';
import { AssetBook } from './books/book.js';
import { DeltaPace } from './books/delta_pace.js';
import { SigningTriggers } from './books/triggers.js';
import { type Candidate, Gate } from './gate.js';
import { Intake } from './intake.js';
import { LastUpdates } from './last_updates.js';
import type { ReadMessage } from './message.js';
import type { PublisherSession, PublishOutcome, PublishReceiver } from './publisher_session.js';
import { SigningQueue } from './signing_queue.js';

/**
 * The step of due times. Due times are rounded up to a multiple of this step, so that one tick does all the work that becomes due
 * within the step.
 */
const DUE_STEP_NS = 10n * NS_PER_MS;

/**
 * Makes prices. The steps that make a price:
 *
 * receive: read message → gate → verify → book (→ input store) → aggregate → sink.priced
 * sign:    trigger → inputs of the book → sign → sink.signed
 *
 * The aggregator runs on one thread. Only curve arithmetic may run on other threads, through the pool.
 */
export class Aggregator implements PublishReceiver {
  readonly #options: AggregatorOptions;
  readonly #gate: Gate;
  readonly #intake: Intake;
  /** Books by asset index. */
  readonly #books: AssetBook<LatestInput>[];
  /** The live price that was last reported to the sink, by asset index; `undefined` when the asset has no price. */
  readonly #told: (LivePrice | undefined)[] = [];
  readonly #signing: SigningQueue;
  readonly #lastUpdates = new LastUpdates();
  readonly #deltaPace: DeltaPace;
  #catalogue: Catalogue;
  #triggers: SigningTriggers;
  #nextExpiryNs: bigint | undefined;
  #tickedNs = 0n;

  constructor(options: AggregatorOptions) {
    const { catalogue, ingest, parts, hooks } = options;
    const { clock, counters } = parts;
    this.#options = options;
    this.#catalogue = catalogue;
    this.#gate = new Gate(catalogue, clock, ingest);
    this.#intake = new Intake({
      gate: this.#gate,
      clock,
      pool: parts.pool,
      nowMs: hooks.nowMs,
      defer: hooks.defer,
      badSignaturesPerSecondMax: options.badSignaturesPerSecondMax,
      counters,
      onApplied: hooks.onApplied,
      onAccepted: (...update) => this.#putInput(...update),
    });
    this.#books = catalogue.assets.map((asset) => new AssetBook(asset, ingest.maxFutureNs));
    this.#triggers = new SigningTriggers(catalogue.listed, clock.nowNs());
    this.#deltaPace = new DeltaPace(options.deltaAggregatesPerSecondMax);
    this.#signing = new SigningQueue({
      times: parts.times,
      signer: parts.signer,
      bookOf: (index) => this.#books[index]!,
      onTaken: ({ asset, price }, trigger) => {
        this.#triggers.signed(asset.index, price!);
        if (trigger === 'delta') this.#deltaPace.signed(asset.index, clock.nowNs());
      },
      onSigned: (aggregates) => this.#tellSigned(aggregates),
      onFailed: (count, error) => this.#tellFailed(count, error),
      onDropped: () => {
        counters.aggregatesDropped++;
      },
      onWaiting: () => this.#askForTick(),
      defer: hooks.defer,
    });
  }

  get updatesWaiting(): number {
    return this.#intake.updatesWaiting;
  }

  /** The earliest time of the aggregates whose signing is in progress; `undefined` without such aggregates. */
  get signingSinceNs(): bigint | undefined {
    return this.#signing.signingSinceNs;
  }

  /** Returns the time of the last activity of each configured asset and publisher. */
  activity(): Activity {
    const { listed, currentPublishers } = this.#catalogue;
    const seconds = (atNs: TimeNs | undefined) => (atNs === undefined ? undefined : Number(atNs) / 1e9);
    return {
      assets: listed.map((asset) => ({
        symbol: asset.symbol,
        signatureType: asset.signatureType,
        inputs: this.#books[asset.index]!.counting,
        frozen: this.#books[asset.index]!.frozen.map(({ key }) => `0x${key.toString('hex')}`),
        updatedAtSeconds: seconds(this.#lastUpdates.ofAsset(asset)),
      })),
      publishers: currentPublishers.map((publisher) => ({
        key: `0x${publisher.key.toString('hex')}`,
        signatureType: publisher.signatureType,
        updatedAtSeconds: seconds(this.#lastUpdates.ofPublisher(publisher)),
      })),
    };
  }

  /**
   * Restores the inputs from the input store. Inputs that are not too old make prices again, as without a restart. Inputs whose
   * time is more than `max_future` after the clock do not count, because the clock of an earlier process was ahead.
   */
  restore(): void {
    const { parts, ingest } = this.#options;
    const { inputs, clock } = parts;
    const nowNs = clock.nowNs();
    for (const { asset: name, key, input, seen } of inputs.inputs()) {
      const asset = this.#catalogue.findAsset(name.symbol, name.signatureType);
      const publisher = this.#catalogue.publisherByKey(name.signatureType, key);
      if (asset === undefined || publisher === undefined) continue;
      const latest = this.#gate.restore(asset, publisher, input, seen);
      if (input.timestampNs > nowNs + ingest.maxFutureNs) continue;
      this.#books[asset.index]!.put(publisher, latest, nowNs);
      this.#lastUpdates.restored(asset, publisher, input.timestampNs);
    }
    for (const { index } of this.#catalogue.listed) {
      this.#noteExpiry(this.#books[index]!);
      this.#tellPrice(this.#books[index]!, nowNs);
    }
  }

  /** Applies a changed catalogue. The sink already has the changed catalogue. */
  reload(catalogue: Catalogue): void {
    const nowNs = this.#options.parts.clock.nowNs();
    this.#catalogue = catalogue;
    this.#gate.reload(catalogue);
    this.#triggers = new SigningTriggers(catalogue.listed, nowNs, this.#triggers);
    this.#askForTick();
    for (const asset of catalogue.assets) {
      const book = this.#books[asset.index];
      if (book === undefined) {
        this.#books.push(new AssetBook(asset, this.#options.ingest.maxFutureNs));
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

  /** Writes the asset's inputs from before `beforeNs` to the input store again, except inputs that are too old. */
  putAgain({ index }: Asset, beforeNs: TimeNs): void {
    const { asset, inputs } = this.#books[index]!;
    for (const { publisher, input } of inputs)
      if (input.timestampNs < beforeNs)
        this.#options.parts.inputs.putInput(asset, publisher.key, this.#gate.accepted(asset, publisher));
  }

  /** Receives one message of a publisher. */
  receive(session: PublisherSession, message: ReadMessage): PublishOutcome | Promise<PublishOutcome> {
    return this.#intake.receive(session, message);
  }

  /**
   * Returns the time of the next expiry or end of a period. While aggregates wait for a usable time, returns a time in the near future.
   */
  nextDueNs(nowNs: TimeNs): bigint | undefined {
    const isWaiting = this.#options.parts.times.isWaiting;
    const ofPeriodNs = earlierOf(this.#triggers.nextDueNs, this.#deltaPace.nextDueNs);
    const dueNs = isWaiting ? nowNs + 1n : earlierOf(this.#nextExpiryNs, ofPeriodNs);
    return dueNs === undefined ? undefined : nextMultiple(dueNs - 1n, DUE_STEP_NS);
  }

  /** Removes the inputs that no longer count, and signs the prices that are due. */
  tick(nowNs: TimeNs): void {
    const isSteppedBack = nowNs < this.#tickedNs;
    this.#tickedNs = nowNs;
    if (isSteppedBack) this.#gate.steppedBack(nowNs);
    const isDue = this.#nextExpiryNs !== undefined && nowNs >= this.#nextExpiryNs;
    if (isDue || isSteppedBack) this.#expireInputs(nowNs, isSteppedBack);
    for (const { index } of this.#triggers.due(nowNs)) {
      const { asset, price } = this.#books[index]!;
      if (price !== undefined) this.#signing.request(asset, 'clock');
    }
    for (const index of this.#deltaPace.takeDue(nowNs)) this.#requestIfMoved(this.#books[index]!, nowNs);
    this.#signing.tick(nowNs);
  }

  /** Puts an accepted update into its book and into the input store. */
  #putInput(candidate: Candidate, accepted: LatestInput, nowNs: TimeNs): void {
    const { asset } = candidate;
    // The publisher's configuration may have changed during the verification, so this code reads the current configuration.
    const publisher = this.#catalogue.publishers[candidate.publisher.index]!;
    const book = this.#books[asset.index]!;
    book.put(publisher, accepted, nowNs);
    this.#lastUpdates.accepted(asset, publisher, nowNs);
    this.#options.parts.inputs.putInput(asset, publisher.key, accepted);
    this.#noteExpiry(book);
    this.#tellPrice(book, nowNs);
  }

  #expireInputs(nowNs: TimeNs, isSteppedBack: boolean): void {
    this.#nextExpiryNs = undefined;
    for (const book of this.#books) {
      if (isSteppedBack || book.isDue(nowNs)) {
        book.expire(nowNs);
        this.#tellPrice(book, nowNs);
      }
      this.#noteExpiry(book);
    }
  }

  #noteExpiry({ expiresAtNs }: AssetBook): void {
    if (expiresAtNs !== undefined && (this.#nextExpiryNs === undefined || expiresAtNs < this.#nextExpiryNs)) {
      this.#nextExpiryNs = expiresAtNs;
      this.#askForTick();
    }
  }

  #askForTick(): void {
    const dueNs = this.nextDueNs(this.#options.parts.clock.nowNs());
    if (dueNs !== undefined) this.#options.hooks.onDue(dueNs);
  }

  /** Reports a changed price or quality to the sink, and requests a signature when the price moved far enough. */
  #tellPrice(book: AssetBook<LatestInput>, nowNs: TimeNs): void {
    const { sink, counters } = this.#options.parts;
    const { asset, price } = book;
    const { index } = asset;
    const known = this.#told[index];
    const live = price === undefined ? undefined : { asset, price, quality: book.quality() };
    this.#told[index] = live;
    if (price !== undefined && live !== undefined) {
      if (!isSameLivePrice(live, known)) sink.priced(live);
      this.#requestIfMoved(book, nowNs);
    } else if (known !== undefined) {
      this.#triggers.ended(index);
      sink.ended({ asset, atNs: nowNs });
      counters.assetsEnded++;
    }
  }

  /** Requests a signature when the price moved far enough. Past the allowance of the asset, the move waits for a later tick. */
  #requestIfMoved({ asset, price }: AssetBook<LatestInput>, nowNs: TimeNs): void {
    if (price === undefined || !this.#triggers.isDelta(asset, price)) return;
    if (this.#deltaPace.admit(asset.index, nowNs)) this.#signing.request(asset, 'delta');
    else {
      this.#options.parts.counters.deltasHeld++;
      this.#askForTick();
    }
  }

  #tellSigned(aggregates: readonly SignedAggregate[]): void {
    const { sink, counters } = this.#options.parts;
    counters.aggregatesSigned += aggregates.length;
    for (const aggregate of aggregates) {
      const asset = this.#catalogue.findAsset(aggregate.symbol, aggregate.signatureType);
      // The asset may have lost its price while the signature was made.
      if (asset === undefined || this.#told[asset.index] === undefined) continue;
      try {
        sink.signed({ asset, aggregate });
      } catch (error) {
        // The aggregate has so many inputs that the log of a cluster does not take it. The other aggregates still go to the log.
        if (!(error instanceof RangeError)) throw error;
        this.#tellFailed(1, error);
      }
    }
  }

  #tellFailed(count: number, error: unknown): void {
    this.#options.parts.counters.signingFailures += count;
    this.#options.hooks.onSigningFailed(count, error);
  }
}
