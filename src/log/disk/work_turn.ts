import { setImmediate as endOfTurn } from 'node:timers/promises';

/** The longest time of one piece of long work. During a piece, ticks and requests wait. */
const TURN_MS = 1;

/** The turns of the event loop in which long work is done piece by piece. Long work asks {@link isOver} after each step. */
export class WorkTurn {
  #endMs = performance.now() + TURN_MS;

  get isOver(): boolean {
    return performance.now() >= this.#endMs;
  }

  /** Resolves in the next turn, after the other work of the event loop. */
  async next(): Promise<void> {
    await endOfTurn();
    this.#endMs = performance.now() + TURN_MS;
  }
}
