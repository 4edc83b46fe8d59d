import { type Budget, UNLIMITED } from '../../src/model/budget.js';
import type { ReaderBudgets } from '../../src/stream/reader_session.js';

/** A budget that only the test restores. */
export class CountedBudget implements Budget {
  refusals = 0;

  constructor(public left: number) {}

  take(cost: number): boolean {
    if (cost > this.left) return false;
    this.left -= cost;
    return true;
  }

  has(cost: number): boolean {
    return cost <= this.left;
  }

  owe(cost: number): void {
    this.left -= cost;
  }

  countRefusal(): void {
    this.refusals++;
  }
}

/** Returns the budgets of a reader. Only the named budgets have limits. */
export function readerBudgets(named: Partial<ReaderBudgets> = {}): ReaderBudgets {
  return { signedFrames: UNLIMITED, subscriptionChanges: UNLIMITED, controlMessages: UNLIMITED, ...named };
}
