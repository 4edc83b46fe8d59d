import type { Budget } from '../fair/budget.js';

/**
 * The cost of a signature, as the number of assets whose bytes take the same time. A signature takes 36 µs. An asset takes 0.09
 * µs for its share of the body, its hash, its hex and the write to a socket.
 */
const SIGNATURE_COST = 400;

/** The largest number of callers that are asked to pay for a frame. */
const ASKED_MAX = 8;

/** Returns the cost of a signed frame with this number of assets. */
export function signedFrameCost(assets: number): number {
  return SIGNATURE_COST + assets;
}

/**
 * The callers whose connections are in a group and share its signed frames. The callers pay for frames in turn. So a frame is
 * skipped only when none of the callers that are asked can pay, and no caller can use up another's budget by joining its group.
 */
export class FrameBudgets {
  /** The number of connections by budget. The budget that was asked last is at the end of the map. */
  readonly #connections = new Map<Budget, number>();

  add(budget: Budget): void {
    this.#connections.set(budget, (this.#connections.get(budget) ?? 0) + 1);
  }

  delete(budget: Budget): void {
    const left = this.#connections.get(budget)! - 1;
    if (left > 0) this.#connections.set(budget, left);
    else this.#connections.delete(budget);
  }

  /**
   * Makes a caller pay for a frame. @returns true when a caller could pay; otherwise the refusal is counted for the caller that was
   * asked first
   */
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
