import type { QueuedWork } from './queued_work.js';

/** The amount of collected work that is handed on before the end of the turn. Collected work keeps its messages in memory. */
const GATHERED_MICROS_MAX = 600;

/**
 * Collects small pieces of one kind from the same turn of the event loop, because doing the pieces together takes less work. The
 * first piece of a turn does not wait. But if the last turn had several pieces, all pieces of this turn wait.
 */
export class Turn {
  readonly #defer: (callback: () => void) => void;
  readonly #handOn: (pieces: readonly QueuedWork[], micros: number) => void;
  #pieces: QueuedWork[] = [];
  #micros = 0;
  #count = 0;
  #isRunning = false;

  /**
   * @param defer calls back at the end of the turn
   * @param handOn receives the collected pieces
   */
  constructor(
    defer: (callback: () => void) => void,
    handOn: (pieces: readonly QueuedWork[], micros: number) => void,
  ) {
    this.#defer = defer;
    this.#handOn = handOn;
  }

  /** True when the next piece is not the first piece of its turn. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  begin(): void {
    this.#isRunning = true;
    this.#count = 0;
    this.#defer(() => {
      this.#isRunning = false;
      if (this.#count > 1) this.begin();
      this.#flush();
    });
  }

  add(piece: QueuedWork): void {
    this.#pieces.push(piece);
    this.#micros += piece.micros;
    this.#count += 1;
    if (this.#micros >= GATHERED_MICROS_MAX) this.#flush();
  }

  #flush(): void {
    if (this.#pieces.length === 0) return;
    const pieces = this.#pieces;
    const micros = this.#micros;
    this.#pieces = [];
    this.#micros = 0;
    this.#handOn(pieces, micros);
  }
}
