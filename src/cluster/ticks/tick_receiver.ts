import type { AssetName } from '../../model/asset_map.js';
import { isSameLivePrice, type LivePrice } from '../../model/price_with_quality.js';
import type { Bus } from '../bus.js';
import { fullTopic, TICK_TOPIC } from '../subjects.js';
import type { ClusterTiming } from '../timing.js';
import { UnreadableMessage } from '../unreadable.js';
import { type AssetKey, assetOf, type IdMapping } from './id_mapping.js';
import { type IdsRefusal, LeaderNames } from './leader_names.js';
import type { ShownPrices } from './shown_prices.js';
import { decodeTickBatch, type TickBatch } from './tick_batch.js';

/** The time limit for the leader's answer with all prices. */
const ANSWER_MS_MAX = 300;
const NO_BYTES = new Uint8Array(0);

/** The receiver of the leader's live prices. The leader's assets may differ from this node's assets. */
export interface PriceListener {
  priced(asset: AssetName, live: LivePrice): void;
  ended(asset: AssetName): void;
}

export interface TickReceiverOptions {
  readonly bus: Pick<Bus, 'listen' | 'ask'>;
  readonly prices: PriceListener;
  /** Returns the mapping of this node's current configuration. */
  readonly taxonomy: () => IdMapping;
  /** Called with the leader's mapping when it differs from this node's. With a reason, the receiver shows no prices. */
  readonly refuseIds?: IdsRefusal | undefined;
  readonly timing: Pick<ClusterTiming, 'feedTimeoutMs' | 'retryMs'>;
  readonly nowMs: () => number;
  /** Called when a message from the leader arrives. */
  readonly received: () => void;
  /** Called when a tick has a later epoch than the epoch in which this node leads. */
  readonly overtaken: () => void;
}

/**
 * Keeps the prices from the leader's ticks. When a batch is missing or an epoch is new, the receiver requests all prices. It ignores
 * messages of older epochs. When the leader is silent for too long, its prices end. When streaming IDs have a different meaning on the
 * leader, the receiver requests that meaning and meanwhile shows the earlier prices.
 */
export class TickReceiver implements ShownPrices {
  readonly #options: TickReceiverOptions;
  readonly #live = new Map<AssetKey, LivePrice>();
  readonly #names: LeaderNames;
  /** The newest epoch, from the log or from a tick. */
  #epoch = 0;
  #number = 0;
  /** True when no batch of this epoch is missing. */
  #isComplete = false;
  #gaps = 0;
  #tickMs: number;
  /** The time of the last batch whose prices this node could show. */
  #shownMs: number;
  /** True while this node leads and shows its own prices. */
  #isLeading = false;
  /** The last epoch that this node led. The node also receives its own ticks of that epoch, sometimes late. */
  #ownEpoch = 0;
  #askMs = Number.POSITIVE_INFINITY;
  #isAsking = false;
  #stopListening: (() => void) | undefined;

  constructor(options: TickReceiverOptions) {
    this.#options = options;
    this.#tickMs = options.nowMs();
    this.#shownMs = this.#tickMs;
    this.#names = new LeaderNames(options.taxonomy, options.refuseIds);
  }

  start(): void {
    this.#stopListening = this.#options.bus.listen(TICK_TOPIC, (bytes) => this.#receive(bytes));
  }

  stop(): void {
    this.#stopListening?.();
    this.#askMs = Number.POSITIVE_INFINITY;
  }

  /** The time of the newest epoch's last tick, or the start time of this receiver. */
  get tickMs(): number {
    return this.#tickMs;
  }

  /** True when all prices of the newest epoch are known. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The reason why this node must not say what streaming IDs mean: they mean other assets on the leader, or this is not known yet. */
  get idsRefusal(): string | undefined {
    return this.#isLeading ? undefined : this.#names.refusal;
  }

  /** The number of gaps in the leader's batches. */
  get gaps(): number {
    return this.#gaps;
  }

  get live(): ReadonlyMap<AssetKey, LivePrice> {
    return this.#live;
  }

  /**
   * Notes that the log has begun an epoch. From now on the receiver ignores messages of earlier leaders. A tick may already have shown a
   * later epoch. If the log has a different claim at that epoch's sequence, the servers have lost the epoch's own claim.
   * @param place the sequence in the log
   */
  began(epoch: number, place = epoch): void {
    const isLost = this.#epoch > epoch && place >= this.#epoch;
    if (epoch <= this.#epoch && !isLost) return;
    this.#epoch = epoch;
    this.#number = 0;
    // Before its claim, a leader may have received a tick of a lost epoch. The prices of a leader are complete.
    this.#isComplete = this.#isLeading;
    this.#askMs = Number.POSITIVE_INFINITY;
  }

  /** Shows this node's own prices from now on. */
  lead(epoch: number): void {
    this.#isLeading = true;
    this.#ownEpoch = epoch;
    this.#isComplete = true;
    this.#askMs = Number.POSITIVE_INFINITY;
  }

  /**
   * Notes that the log has dropped records that this node has not read. If the servers had lost this node's claim, another node may have
   * claimed an epoch with the same number there, and its ticks are not this node's own.
   */
  recordsMissing(): void {
    this.#ownEpoch = 0;
  }

  /** Ends this node's lead. The node's prices stay until another node's ticks arrive, or until a time limit. */
  stepDown(): void {
    this.#isLeading = false;
    this.#isComplete = false;
    this.#number = 0;
    this.#tickMs = this.#options.nowMs();
    this.#shownMs = this.#tickMs;
  }

  show(asset: AssetKey, live: LivePrice | undefined): void {
    if (live === undefined) this.#live.delete(asset);
    else this.#live.set(asset, live);
  }

  keep(live: ReadonlyMap<AssetKey, LivePrice>): void {
    for (const asset of this.#live.keys()) if (!live.has(asset)) this.#endPrice(asset);
  }

  /** Reports all prices again, because the node's assets have changed. */
  tellAll(): void {
    if (this.#isLeading) return;
    for (const [asset, live] of this.#live) this.#options.prices.priced(assetOf(asset), live);
  }

  tick(nowMs: number): void {
    if (this.#isLeading) return;
    if (nowMs >= this.#shownMs + this.#options.timing.feedTimeoutMs) this.clear();
    if (nowMs >= this.#askMs && !this.#isAsking) this.#requestAll();
  }

  nextDueMs(): number {
    if (this.#isLeading) return Number.POSITIVE_INFINITY;
    const clearMs =
      this.#live.size > 0 ? this.#shownMs + this.#options.timing.feedTimeoutMs : Number.POSITIVE_INFINITY;
    return this.#isAsking ? clearMs : Math.min(clearMs, this.#askMs);
  }

  #receive(bytes: Uint8Array): void {
    const batch = readBatch(bytes);
    if (batch === undefined || batch.epoch < this.#epoch || batch.epoch === this.#ownEpoch) return;
    if (this.#isLeading) {
      this.#options.overtaken();
      return;
    }
    this.began(batch.epoch);
    this.#tickMs = this.#options.nowMs();
    this.#options.received();
    if (batch.number <= this.#number) return;
    const isNext = batch.number === this.#number + 1;
    if (!isNext && this.#number > 0) this.#gaps++;
    this.#number = batch.number;
    if (!this.#names.areKnown(batch.taxonomy)) this.#noteGap();
    else if (this.#names.refusal !== undefined) this.clear();
    else if (batch.full) this.#replace(batch);
    else {
      this.#change(batch);
      if (!isNext) this.#noteGap();
    }
  }

  /**
   * Requests all prices, because a batch is missing or unreadable. Meanwhile the receiver shows later batches, because their prices are
   * newer.
   */
  #noteGap(): void {
    this.#isComplete = false;
    if (this.#askMs === Number.POSITIVE_INFINITY) this.#requestAll();
  }

  #requestAll(): void {
    const { bus, nowMs, timing } = this.#options;
    const epoch = this.#epoch;
    const namesQuery = this.#names.query;
    this.#isAsking = true;
    this.#askMs = nowMs() + timing.retryMs;
    bus
      .ask(fullTopic(epoch), namesQuery ?? NO_BYTES, ANSWER_MS_MAX)
      .then(
        (bytes) => {
          if (namesQuery === undefined) this.#handleAnswer(readBatch(bytes));
          else if (this.#names.answered(bytes)) this.#askMs = nowMs();
        },
        () => {},
      )
      .finally(() => {
        this.#isAsking = false;
        if (nowMs() >= this.#askMs) this.#requestAll();
      });
  }

  /**
   * Reads an answer with all prices. If the leader sent the answer before a batch that has already arrived, the answer is out of date, and
   * the receiver waits for the next answer.
   */
  #handleAnswer(batch: TickBatch | undefined): void {
    if (
      this.#isLeading ||
      batch === undefined ||
      !batch.full ||
      batch.epoch !== this.#epoch ||
      batch.number < this.#number ||
      !this.#names.areKnown(batch.taxonomy) ||
      this.#names.refusal !== undefined
    )
      return;
    this.#number = batch.number;
    this.#replace(batch);
  }

  #replace({ prices }: TickBatch): void {
    const { nowMs, timing } = this.#options;
    const named = this.#withNames(prices);
    this.#isComplete = named.size === prices.size;
    this.#askMs = this.#isComplete ? Number.POSITIVE_INFINITY : nowMs() + timing.retryMs;
    this.keep(named);
    for (const [asset, live] of named) this.#setPrice(asset, live);
    this.#shownMs = nowMs();
  }

  #change({ prices, ended }: TickBatch): void {
    for (const id of ended) {
      const asset = this.#names.keyOf(id);
      if (asset !== undefined) this.#endPrice(asset);
    }
    const named = this.#withNames(prices);
    for (const [asset, live] of named) this.#setPrice(asset, live);
    this.#shownMs = this.#options.nowMs();
    if (named.size < prices.size) this.#noteGap();
  }

  #withNames(prices: ReadonlyMap<number, LivePrice>): Map<AssetKey, LivePrice> {
    const named = new Map<AssetKey, LivePrice>();
    for (const [id, live] of prices) {
      const asset = this.#names.keyOf(id);
      if (asset !== undefined) named.set(asset, live);
    }
    return named;
  }

  #setPrice(asset: AssetKey, live: LivePrice): void {
    if (isSameLivePrice(live, this.#live.get(asset))) return;
    this.#live.set(asset, live);
    this.#options.prices.priced(assetOf(asset), live);
  }

  #endPrice(asset: AssetKey): void {
    if (this.#live.delete(asset)) this.#options.prices.ended(assetOf(asset));
  }

  /** Ends all shown prices. */
  clear(): void {
    this.#isComplete = false;
    for (const asset of this.#live.keys()) this.#endPrice(asset);
  }
}

/** Reads a batch. An unreadable message counts as a lost message. */
function readBatch(bytes: Uint8Array): TickBatch | undefined {
  try {
    return decodeTickBatch(bytes);
  } catch (error) {
    if (error instanceof UnreadableMessage) return undefined;
    throw error;
  }
}
