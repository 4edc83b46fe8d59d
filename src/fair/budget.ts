import { NS_PER_SECOND } from '../model/time.js';

/** How much of something one caller may still do: each piece of it has a cost, in a unit that the budget's owner chooses. */
export interface Budget {
  /** Takes a cost off. @returns whether so much was left; otherwise nothing is taken off */
  take(cost: number, nowNs: bigint): boolean;
  /** Takes a cost off that was caused already, whatever is left; at most {@link DEBT_NS_MAX} have to pass before there is any again. */
  owe(cost: number, nowNs: bigint): void;
  /** Whether {@link take} would take the cost off. */
  has(cost: number, nowNs: bigint): boolean;
  /** Counts that something was not done because too little was left. */
  countRefusal(): void;
}

/** The budget of one who may do anything. */
export const UNLIMITED: Budget = { take: () => true, owe: () => {}, has: () => true, countRefusal: () => {} };

export interface BudgetRate {
  /** The cost that comes back in a second. */
  readonly perSecond: number;
  /** The cost that may come at once; at least the largest cost that there is. */
  readonly burst: number;
}

/** Clocks of threads differ less; a time that is further ahead is from before the clock was stepped back. */
const CLOCK_STEP_NS = NS_PER_SECOND;
/** The longest time that {@link Budget.owe} takes away. */
export const DEBT_NS_MAX = CLOCK_STEP_NS / 2n;

/**
 * A budget in one 64-bit word, which may be in memory that threads share: then its count is exact over all of them.
 *
 * The word is the time at which the whole burst is there again. Each piece moves it on by the piece's share of a second, and is
 * allowed while the time is at most a burst ahead of the clock (the generic cell rate algorithm).
 */
export class SharedBudget implements Budget {
  readonly #words: BigInt64Array;
  readonly #place: number;
  readonly #nsPerUnit: number;
  readonly #burstNs: bigint;
  readonly #onRefusal: () => void;

  /** @param place of its word in `words`; a word of 0 is a whole burst */
  constructor(words: BigInt64Array, place: number, { perSecond, burst }: BudgetRate, onRefusal: () => void) {
    this.#words = words;
    this.#place = place;
    this.#nsPerUnit = Number(NS_PER_SECOND) / perSecond;
    this.#burstNs = this.#durationNs(burst);
    this.#onRefusal = onRefusal;
  }

  take(cost: number, nowNs: bigint): boolean {
    return this.#move(cost, nowNs, (untilNs, latestNs) => (untilNs <= latestNs ? untilNs : undefined));
  }

  owe(cost: number, nowNs: bigint): void {
    this.#move(cost, nowNs, (untilNs, latestNs) =>
      untilNs <= latestNs + DEBT_NS_MAX ? untilNs : latestNs + DEBT_NS_MAX,
    );
  }

  has(cost: number, nowNs: bigint): boolean {
    return this.#busyUntil(Atomics.load(this.#words, this.#place), cost, nowNs) <= nowNs + this.#burstNs;
  }

  countRefusal(): void {
    this.#onRefusal();
  }

  /** Adds a piece. @param decide chooses the word's next value, or leaves it as it is. @returns whether it has changed */
  #move(
    cost: number,
    nowNs: bigint,
    decide: (untilNs: bigint, latestNs: bigint) => bigint | undefined,
  ): boolean {
    for (;;) {
      const before = Atomics.load(this.#words, this.#place);
      const next = decide(this.#busyUntil(before, cost, nowNs), nowNs + this.#burstNs);
      if (next === undefined) return false;
      // Another thread may have changed it meanwhile.
      if (Atomics.compareExchange(this.#words, this.#place, before, next) === before) return true;
    }
  }

  /** The word after one more piece. */
  #busyUntil(before: bigint, cost: number, nowNs: bigint): bigint {
    const isFromBeforeStep = before > nowNs + this.#burstNs + CLOCK_STEP_NS;
    return (before > nowNs && !isFromBeforeStep ? before : nowNs) + this.#durationNs(cost);
  }

  #durationNs(cost: number): bigint {
    return BigInt(Math.round(cost * this.#nsPerUnit));
  }
}

/** Words for so many budgets, in memory that threads can share. */
export function budgetWords(count: number): BigInt64Array {
  return new BigInt64Array(new SharedArrayBuffer(count * BigInt64Array.BYTES_PER_ELEMENT));
}
