import type { TimeNs } from '../model/time.js';

/**
 * Knows whether a tick is due. One turn of the event loop handles all messages that came together. A tick that becomes due
 * meanwhile must not wait for the last of them, so it runs before the next message.
 */
export class DueTick {
  readonly #intervalNs: bigint;
  readonly #onTick: (nowNs: TimeNs) => void;
  #nextNs = 0n;

  constructor(intervalNs: bigint, onTick: (nowNs: TimeNs) => void) {
    this.#intervalNs = intervalNs;
    this.#onTick = onTick;
  }

  runIfDue(nowNs: TimeNs): void {
    if (nowNs >= this.#nextNs) this.run(nowNs);
  }

  run(nowNs: TimeNs): void {
    this.#nextNs = (nowNs / this.#intervalNs + 1n) * this.#intervalNs;
    this.#onTick(nowNs);
  }
}
