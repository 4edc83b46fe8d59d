import type { Budget } from './budget.js';

/** The interval of checks while work waits. A budget grows during the wait, so the interval does not lower the rate. */
const CHECK_MS = 20;

interface WaitingCost {
  readonly cost: number;
  readonly paid: () => void;
}

/**
 * Pays for pieces of work from a budget, in the order of arrival. Without this order, work with a high cost would rarely find enough
 * budget beside work with a low cost, which leaves little of it.
 */
export class BudgetQueue {
  readonly #budget: Budget;
  readonly #nowNs: () => bigint;
  readonly #after: (callback: () => void, ms: number) => unknown;
  readonly #waiting: WaitingCost[] = [];

  /** @param after calls back after a time in ms */
  constructor(budget: Budget, nowNs: () => bigint, after: (callback: () => void, ms: number) => unknown) {
    this.#budget = budget;
    this.#nowNs = nowNs;
    this.#after = after;
  }

  /** Resolves when the budget has paid. A piece of work that must wait counts as one refusal. */
  async pay(cost: number): Promise<void> {
    if (this.#waiting.length === 0 && this.#budget.take(cost, this.#nowNs())) return;
    this.#budget.countRefusal();
    await new Promise<void>((paid) => {
      this.#waiting.push({ cost, paid });
      if (this.#waiting.length === 1) this.#after(() => this.#check(), CHECK_MS);
    });
  }

  #check(): void {
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined) return;
      if (!this.#budget.take(first.cost, this.#nowNs())) break;
      this.#waiting.shift();
      first.paid();
    }
    this.#after(() => this.#check(), CHECK_MS);
  }
}
