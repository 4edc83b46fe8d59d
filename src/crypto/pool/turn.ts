import type { QueuedWork } from './queued_work.js';

/** The work of one turn that is handed on before the turn ends: waiting work keeps its messages in memory. */
const GATHERED_MICROS_MAX = 600;

/**
 * Gathers small pieces of one kind that come in the same turn of the event loop, because together they take less work. The first
 * piece of a turn should not wait, but when a turn had several, all pieces of the next turn wait.
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
   * @param handOn receives the gathered pieces
   */
  constructor(
    defer: (callback: () => void) => void,
    handOn: (pieces: readonly QueuedWork[], micros: number) => void,
  ) {
    this.#defer = defer;
    this.#handOn = handOn;
  }

  /** True when a piece that comes now is not the first. */
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
