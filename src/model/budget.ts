import { NS_PER_SECOND } from '../model/time.js';

/** The amount of work that a caller may still cause. Each piece of work has a cost, in a unit of the owner's choice. */
export interface Budget {
  /**
   * Subtracts a cost.
   * @returns true if the budget had enough left; otherwise the budget stays unchanged
   */
  take(cost: number, nowNs: bigint): boolean;
  /** Subtracts the cost of finished work, even if too little is left. The budget is positive again after at most {@link DEBT_NS_MAX}. */
  owe(cost: number, nowNs: bigint): void;
  /** Returns whether {@link take} would subtract the cost. */
  has(cost: number, nowNs: bigint): boolean;
  /** Counts a refusal for lack of budget. */
  countRefusal(): void;
}

/** The budget of a caller without a limit. */
export const UNLIMITED: Budget = { take: () => true, owe: () => {}, has: () => true, countRefusal: () => {} };

export interface BudgetRate {
  /** The cost that the budget regains in a second. */
  readonly perSecond: number;
  /** The cost that the budget allows at once. This cost must be at least the largest single cost. */
  readonly burst: number;
}

/**
 * The largest difference between the clocks of two threads. A time that is further ahead was stored before the clock went back.
 */
const CLOCK_STEP_NS = NS_PER_SECOND;
/** The longest time for which {@link Budget.owe} can use up a budget. */
export const DEBT_NS_MAX = CLOCK_STEP_NS / 2n;

/**
 * A budget in one 64-bit word. In memory that threads share, the budget is exact over all threads.
 *
 * The word is the time at which the whole burst is available again. Each piece of work moves that time forward by the piece's share of
 * a second. The budget allows a piece while that time is at most a burst ahead of the clock (the generic cell rate algorithm).
 */
export class SharedBudget implements Budget {
  readonly #words: BigInt64Array;
  readonly #place: number;
  readonly #nsPerUnit: number;
  readonly #burstNs: bigint;
  readonly #onRefusal: () => void;

  /** @param place the index of the budget's word in `words`; 0 means that the whole burst is available */
  constructor(words: BigInt64Array, place: number, { perSecond, burst }: BudgetRate, onRefusal: () => void) {
    this.#words = words;
    this.#place = place;
    this.#nsPerUnit = Number(NS_PER_SECOND) / perSecond;
    this.#burstNs = this.#durationNs(burst);
    this.#onRefusal = onRefusal;
  }

  take(cost: number, nowNs: bigint): boolean {
    return this.#addWork(cost, nowNs, (untilNs, latestNs) => (untilNs <= latestNs ? untilNs : undefined));
  }

  owe(cost: number, nowNs: bigint): void {
    this.#addWork(cost, nowNs, (untilNs, latestNs) =>
      untilNs <= latestNs + DEBT_NS_MAX ? untilNs : latestNs + DEBT_NS_MAX,
    );
  }

  has(cost: number, nowNs: bigint): boolean {
    return this.#busyUntil(Atomics.load(this.#words, this.#place), cost, nowNs) <= nowNs + this.#burstNs;
  }

  countRefusal(): void {
    this.#onRefusal();
  }

  /**
   * Adds a piece of work.
   * @param decide chooses the next value of the word; `undefined` leaves the word unchanged
   * @returns true if the word has changed
   */
  #addWork(
    cost: number,
    nowNs: bigint,
    decide: (untilNs: bigint, latestNs: bigint) => bigint | undefined,
  ): boolean {
    for (;;) {
      const before = Atomics.load(this.#words, this.#place);
      const next = decide(this.#busyUntil(before, cost, nowNs), nowNs + this.#burstNs);
      if (next === undefined) return false;
      // Another thread may have changed the word, so the exchange can fail and the loop tries again.
      if (Atomics.compareExchange(this.#words, this.#place, before, next) === before) return true;
    }
  }

  /** Returns the value of the word after one more piece of work. */
  #busyUntil(before: bigint, cost: number, nowNs: bigint): bigint {
    const isFromBeforeStep = before > nowNs + this.#burstNs + CLOCK_STEP_NS;
    return (before > nowNs && !isFromBeforeStep ? before : nowNs) + this.#durationNs(cost);
  }

  #durationNs(cost: number): bigint {
    return BigInt(Math.round(cost * this.#nsPerUnit));
  }
}

/** Creates the words for `count` budgets, in memory that threads can share. */
export function budgetWords(count: number): BigInt64Array {
  return new BigInt64Array(new SharedArrayBuffer(count * BigInt64Array.BYTES_PER_ELEMENT));
}
