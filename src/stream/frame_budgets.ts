import type { Budget } from '../fair/budget.js';

/**
 * The cost of a signature, in assets whose bytes take as long: 36 µs, and 0.09 µs for an asset's share of the body, its hash, its
 * hex and the write to a socket.
 */
const SIGNATURE_COST = 400;

/** The largest number of callers that are asked to pay for one frame. */
const ASKED_MAX = 8;

/** Returns the cost of a signed frame of so many assets; a frame of one asset costs `signedFrameCost(1)`. */
export function signedFrameCost(assets: number): number {
  return SIGNATURE_COST + assets;
}

/**
 * The callers whose connections are in one group, which share its signed frames. The callers pay for a frame in turn, so a frame
 * is only skipped when none of them can pay, and no caller can use up another's budget by joining its group.
 */
export class FrameBudgets {
  /** The number of connections by budget; the budget that was asked last is at the end of the map. */
  readonly #connections = new Map<Budget, number>();

  add(budget: Budget): void {
    this.#connections.set(budget, (this.#connections.get(budget) ?? 0) + 1);
  }

  delete(budget: Budget): void {
    const left = this.#connections.get(budget)! - 1;
    if (left > 0) this.#connections.set(budget, left);
    else this.#connections.delete(budget);
  }

  /** Makes one of the callers pay for a frame. @returns true when a caller could pay; otherwise the refusal is counted for the first */
  pay(cost: number, nowNs: bigint): boolean {
    const [first] = this.#connections.keys();
    if (first === undefined) return true;
    const asked = Math.min(this.#connections.size, ASKED_MAX);
    for (let i = 0; i < asked; i++) {
      const [budget, connections] = this.#connections.entries().next().value!;
      const isPaid = budget.take(cost, nowNs);
      if (this.#connections.size > 1) {
        this.#connections.delete(budget);
        this.#connections.set(budget, connections);
      }
      if (isPaid) return true;
    }
    first.countRefusal();
    return false;
  }
}
