import { budgetWords, SharedBudget } from '../../model/budget.js';
import { CLUSTER_ASSETS_MAX } from '../../model/node_list.js';
import type { LivePrice } from '../../model/price_with_quality.js';
import type { Bus } from '../bus.js';
import { fullTopic, TICK_TOPIC } from '../subjects.js';
import type { ClusterTiming } from '../timing.js';
import type { AssetKey, IdMapping } from './id_mapping.js';
import { answerNames } from './names.js';
import { encodeTickBatch } from './tick_batch.js';

/**
 * The number of bytes waiting for the socket above which the sender stops sending changes. Later it sends only the newest price of each
 * asset.
 */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;

/**
 * The budget of answers, in assets. A node that receives no answer receives all prices within a second without a request. So a node with
 * many requests delays no live prices.
 */
const ANSWERED = { perSecond: 100_000, burst: 2 * CLUSTER_ASSETS_MAX };
/** The cost of an answer with prices in addition to its assets, and the cost of an answer with names. */
const [PRICES_COST, NAMES_COST] = [100, 1_000];

const NS_PER_MS = 1_000_000;

export interface TickSenderOptions {
  readonly bus: Pick<Bus, 'send' | 'answer' | 'waitingBytes'>;
  readonly epoch: number;
  /** Returns the mapping of this node's current configuration. */
  readonly taxonomy: () => IdMapping;
  /** Returns true if a tick may be sent now. Called just before each tick. */
  readonly mayTick: () => boolean;
  readonly timing: Pick<ClusterTiming, 'heartbeatMs' | 'fullTableMs'>;
  readonly nowMs: () => number;
  /** Calls the function after the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
}

/** Sends the leader's live prices to all nodes: the changes of each turn, heartbeats between changes, and all prices once a second. */
export class TickSender {
  readonly #options: TickSenderOptions;
  readonly #live = new Map<AssetKey, LivePrice>();
  readonly #prices = new SharedBudget(budgetWords(1), 0, ANSWERED, () => {});
  readonly #names = new SharedBudget(budgetWords(1), 0, ANSWERED, () => {});
  #changed = new Set<AssetKey>();
  #number = 0;
  #sentMs = Number.NEGATIVE_INFINITY;
  #fullMs = Number.NEGATIVE_INFINITY;
  /** True when the last tick could not be sent. The next tick then carries all prices. */
  #isHeld = false;
  #isDeferred = false;
  #stopAnswering: (() => void) | undefined;
  #state: 'filling' | 'sending' | 'over' = 'filling';

  constructor(options: TickSenderOptions) {
    this.#options = options;
  }

  get live(): ReadonlyMap<AssetKey, LivePrice> {
    return this.#live;
  }

  /** Begins to send prices. The sender must already know all live prices. */
  start(): void {
    if (this.#state !== 'filling') return;
    const { bus, epoch, nowMs } = this.#options;
    this.#state = 'sending';
    this.#stopAnswering = bus.answer(fullTopic(epoch), async (query) => this.#answer(query));
    this.#sendFull(nowMs());
  }

  stop(): void {
    this.#state = 'over';
    this.#stopAnswering?.();
  }

  /** @throws RangeError when more than {@link CLUSTER_ASSETS_MAX} assets have a price */
  priced(asset: AssetKey, live: LivePrice): void {
    this.#live.set(asset, live);
    if (this.#live.size > CLUSTER_ASSETS_MAX)
      throw new RangeError(`a cluster takes at most ${CLUSTER_ASSETS_MAX} assets with a price`);
    this.#change(asset);
  }

  ended(asset: AssetKey): void {
    if (this.#live.delete(asset)) this.#change(asset);
  }

  tick(nowMs: number): void {
    if (nowMs < this.nextDueMs()) return;
    if (this.#isHeld || nowMs >= this.#fullMs + this.#options.timing.fullTableMs) this.#sendFull(nowMs);
    else this.#sendChanges(nowMs);
  }

  nextDueMs(): number {
    if (this.#state !== 'sending') return Number.POSITIVE_INFINITY;
    const { heartbeatMs, fullTableMs } = this.#options.timing;
    const beatMs = this.#sentMs + heartbeatMs;
    return this.#isHeld ? beatMs : Math.min(beatMs, this.#fullMs + fullTableMs);
  }

  /** Notes a change. All changes of one turn of the event loop are sent together. */
  #change(asset: AssetKey): void {
    this.#changed.add(asset);
    if (this.#isDeferred || this.#state !== 'sending') return;
    this.#isDeferred = true;
    const { defer, nowMs } = this.#options;
    defer(() => {
      this.#isDeferred = false;
      if (this.#state === 'sending' && !this.#isHeld && this.#changed.size > 0) this.#sendChanges(nowMs());
    });
  }

  /**
   * Sends the changes. A changed asset without an ID is no longer configured, and no change can report that its price has ended. In this
   * case the sender sends all other prices.
   */
  #sendChanges(nowMs: number): void {
    const taxonomy = this.#options.taxonomy();
    if ([...this.#changed].some((asset) => taxonomy.idOf(asset) === undefined)) this.#sendFull(nowMs);
    else this.#send(nowMs, this.#changed, false);
  }

  /** @throws Error when this node may not answer, or when it has answered too much */
  #answer(query: Uint8Array): Uint8Array {
    const { mayTick, nowMs, taxonomy } = this.#options;
    if (!mayTick()) throw new Error('this node may lead no more');
    const isNames = query.length > 0;
    const budget = isNames ? this.#names : this.#prices;
    const cost = isNames ? NAMES_COST : PRICES_COST + this.#live.size;
    const nowNs = BigInt(Math.round(nowMs() * NS_PER_MS));
    if (!budget.take(cost, nowNs)) throw new Error('the nodes request too much');
    return isNames ? answerNames(query, taxonomy()) : this.#encode(this.#live.keys(), true);
  }

  #sendFull(nowMs: number): void {
    this.#send(nowMs, this.#live.keys(), true);
    if (!this.#isHeld) this.#fullMs = nowMs;
  }

  #send(nowMs: number, assets: Iterable<AssetKey>, full: boolean): void {
    const { bus, mayTick } = this.#options;
    this.#sentMs = nowMs;
    this.#isHeld = bus.waitingBytes > WAITING_BYTES_MAX || !mayTick();
    if (this.#isHeld) return;
    this.#number++;
    bus.send(TICK_TOPIC, this.#encode(assets, full));
    this.#changed = new Set();
  }

  /** Encodes a batch with the current IDs and the hash of their meaning. */
  #encode(assets: Iterable<AssetKey>, full: boolean): Uint8Array {
    const { epoch } = this.#options;
    const taxonomy = this.#options.taxonomy();
    const prices = new Map<number, LivePrice>();
    const ended: number[] = [];
    for (const asset of assets) {
      const id = taxonomy.idOf(asset);
      const live = this.#live.get(asset);
      if (id === undefined) continue;
      if (live === undefined) ended.push(id);
      else prices.set(id, live);
    }
    return encodeTickBatch({ epoch, number: this.#number, full, prices, ended, taxonomy: taxonomy.hash });
  }
}
