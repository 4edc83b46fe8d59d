import type { StreamedType } from './taxonomy.js';
import { Tick } from './tick.js';

/** Ticks that a stream missed. The client reads each tick when the caller takes the tick. */
export type MissedTicks = AsyncGenerator<Tick, undefined, undefined>;

/** The price before the end of a gap, and the end of the gap. */
export interface MissedPrice {
  readonly price: bigint;
  readonly toNs: bigint;
}

/** The stream that has a gap. */
export interface GappedStream {
  /** The interval of the channel; `undefined` on `real_time`. */
  readonly intervalMs: number | undefined;
  readonly signatureType: StreamedType | undefined;
  /** The symbols that the stream wants when the ticks are read. */
  readonly wanted: ReadonlySet<string>;
  /** The last price of each symbol before the gap. */
  readonly lastPrices: ReadonlyMap<string, bigint>;
  /** The last price of each symbol before the end of a gap. */
  readonly lastMissed: Map<string, MissedPrice>;
  /** Returns whether the stream is open. */
  readonly isOpen: () => boolean;
}

/**
 * The largest number of live ticks that wait behind missed ticks without conflation. A later tick replaces the older ticks of its
 * asset.
 */
const HELD_MAX = 10_000;
/** The number of gaps whose missed ticks wait. A reader that is further behind misses the ticks of later gaps. */
const MISSED_MAX = 100;

/**
 * The unread ticks of a stream. The order is: the missed ticks of a gap, the live ticks after the gap, the newest tick of each asset.
 */
export class UnreadTicks {
  readonly #inOrder = new Set<Tick | MissedTicks>();
  #missed = 0;
  /** The newest unread tick of each asset, in reading order. */
  readonly #newest = new Map<string, Tick>();
  #conflated = 0;

  /** The number of ticks that newer ticks replaced. */
  get conflated(): number {
    return this.#conflated;
  }

  /** Adds a live tick. */
  add(tick: Tick): void {
    const isReplaced = this.#newest.has(tick.symbol);
    if (this.#missed > 0 && !isReplaced && this.#inOrder.size < HELD_MAX) {
      this.#inOrder.add(tick);
      return;
    }
    if (isReplaced) this.#conflated += 1;
    this.#newest.set(tick.symbol, tick);
  }

  /** Adds the missed ticks of a gap behind all ticks before it. */
  addMissed(ticks: MissedTicks): void {
    if (this.#missed >= MISSED_MAX) return;
    for (const tick of this.#newest.values()) this.#inOrder.add(tick);
    this.#newest.clear();
    this.#missed += 1;
    this.#inOrder.add(ticks);
  }

  /** Removes and returns the next tick. Missed ticks are returned but not removed; {@link end} removes the missed ticks. */
  take(): Tick | MissedTicks | undefined {
    const [first] = this.#inOrder;
    if (first !== undefined) {
      if (first instanceof Tick) this.#inOrder.delete(first);
      return first;
    }
    const [tick] = this.#newest.values();
    if (tick !== undefined) this.#newest.delete(tick.symbol);
    return tick;
  }

  /** Removes missed ticks after the reader has read all of the missed ticks. */
  end(ticks: MissedTicks): void {
    if (this.#inOrder.delete(ticks)) this.#missed -= 1;
  }

  /** Removes the ticks of an asset. */
  remove(symbol: string): void {
    this.#newest.delete(symbol);
    for (const one of this.#inOrder)
      if (one instanceof Tick && one.symbol === symbol) this.#inOrder.delete(one);
  }

  clear(): void {
    for (const one of this.#inOrder) if (!(one instanceof Tick)) void one.return(undefined);
    this.#inOrder.clear();
    this.#newest.clear();
    this.#missed = 0;
  }
}
