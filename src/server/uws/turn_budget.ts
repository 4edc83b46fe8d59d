/**
 * The number of requests that a thread answers in a turn of its event loop. A read from a connection may contain thousands of
 * pipelined requests, and uWebSockets.js passes them on without a turn between them. Without this limit, ticks, other readers
 * and the watchdog would wait for all of them.
 */
export const REQUESTS_PER_TURN = 128;

/**
 * Spreads requests over the turns of the event loop. While an answer is due, uWebSockets.js parses nothing more from the
 * connection, and ends the connection when more requests arrive. So a client that pipelines more requests than the budget allows
 * loses its connection. A client that waits for its answer receives the answer a turn later.
 */
export class TurnBudget {
  readonly #endOfTurn: (callback: () => void) => void;
  readonly #late: (() => void)[] = [];
  #left = REQUESTS_PER_TURN;
  #isScheduled = false;

  /**
   * @param endOfTurn calls back once, after the event loop has handled the data that was read in this turn; for example
   * `setImmediate`
   */
  constructor(endOfTurn: (callback: () => void) => void) {
    this.#endOfTurn = endOfTurn;
  }

  /**
   * Takes a request. @returns `false` when the request must wait for {@link later}, because the budget of this turn is used
   * up or other requests wait
   */
  take(): boolean {
    this.#schedule();
    if (this.#left === 0 || this.#late.length > 0) return false;
    this.#left -= 1;
    return true;
  }

  /**
   * Answers a request in a later turn. Each connection has at most one waiting request, so the queue has at most one entry for each
   * connection.
   */
  later(answer: () => void): void {
    this.#late.push(answer);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#endOfTurn(() => this.#startTurn());
  }

  #startTurn(): void {
    this.#isScheduled = false;
    const due = this.#late.splice(0, REQUESTS_PER_TURN);
    this.#left = REQUESTS_PER_TURN - due.length;
    if (due.length > 0) this.#schedule();
    for (const answer of due) answer();
  }
}
