import type { TickTimer } from '../../src/clock/ticker.js';
import type { Clock } from '../../src/model/time.js';

/** A timer whose time a test advances. The timer does not depend on the clock. */
export class FakeTickTimer implements TickTimer {
  /** The time until the next call. */
  leftNs = 0n;
  /** True when that call may be late. */
  isRough = false;
  readonly #clock: Clock;
  readonly #onTime: () => void;

  constructor(clock: Clock, onTime: () => void) {
    this.#clock = clock;
    this.#onTime = onTime;
  }

  at(timeNs: bigint): void {
    this.leftNs = timeNs - this.#clock.nowNs();
    this.isRough = false;
  }

  roughlyAt(timeNs: bigint): void {
    this.at(timeNs);
    this.isRough = true;
  }

  pass(durationNs: bigint): void {
    this.leftNs -= durationNs;
    if (this.leftNs <= 0n) this.#onTime();
  }

  takeLateNsMax(): bigint {
    return 0n;
  }

  async stop(): Promise<void> {}
}
