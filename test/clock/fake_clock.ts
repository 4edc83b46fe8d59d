import { type Clock, NS_PER_MS, type TimeNs } from '../../src/model/time.js';
import { START_NS } from '../model/sample.js';

/**
 * A clock that moves when a test moves it. If another clock is given, this clock follows it with an offset that the test can
 * change.
 */
export class FakeClock implements Clock {
  readonly #base: Clock;
  #aheadNs = 0n;

  constructor(start: bigint | Clock = START_NS) {
    this.#base = typeof start === 'bigint' ? { nowNs: () => start as TimeNs } : start;
  }

  nowNs(): TimeNs {
    return (this.#base.nowNs() + this.#aheadNs) as TimeNs;
  }

  get timeNs(): bigint {
    return this.nowNs();
  }

  set timeNs(timeNs: bigint) {
    this.#aheadNs = timeNs - this.#base.nowNs();
  }

  /** @returns the new time */
  advance(durationNs: bigint): TimeNs {
    this.#aheadNs += durationNs;
    return this.nowNs();
  }

  advanceMs(ms: number): void {
    this.advance(BigInt(ms) * NS_PER_MS);
  }
}
