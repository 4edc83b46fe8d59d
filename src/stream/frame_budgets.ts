import type { Budget } from '../fair/budget.js';

/**
 * A signature takes as long as the bytes of so many assets: 36 µs, and 0.09 µs for an asset's share of the body, its hash, its hex
 * and the write to a socket.
 */
const SIGNATURE_COST = 400;

/** How many callers are asked for one frame. */
const ASKED_MAX = 8;

/** The cost of a signed frame of so many assets, where a frame of one asset costs `signedFrameCost(1)`. */
export function signedFrameCost(assets: number): number {
  return SIGNATURE_COST + assets;
}

/**
 * The callers whose connections are in one group, which share its signed frames. They pay for a frame in turn, so a frame is
 * only left out when none of them can pay, and nobody can use up another's budget by joining its group.
 */
export class FrameBudgets {
  /** Connections by budget; who paid last is last. */
  readonly #connections = new Map<Budget, number>();

  add(budget: Budget): void {
    this.#connections.set(budget, (this.#connections.get(budget) ?? 0) + 1);
  }

  delete(budget: Budget): void {
    const left = this.#connections.get(budget)! - 1;
    if (left > 0) this.#connections.set(budget, left);
    else this.#connections.delete(budget);
  }

  /** Has one of the callers pay for a frame. @returns whether one could; otherwise the refusal is counted for the first */
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
