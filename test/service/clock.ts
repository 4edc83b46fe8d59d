import { type Clock, NS_PER_MS, type TimeNs } from '../../src/model/time.js';

/** 2025-06-02 12:00:00 UTC, a Monday. */
const START_NS = 1_748_865_600n * 1_000_000_000n;

/** A clock that only moves by hand, or runs with another one and can be set ahead of it. */
export class TestClock implements Clock {
  #aheadNs = 0n;

  constructor(readonly base: Clock = { nowNs: () => START_NS as TimeNs }) {}

  nowNs(): TimeNs {
    return (this.base.nowNs() + this.#aheadNs) as TimeNs;
  }

  advanceMs(ms: number): void {
    this.#aheadNs += BigInt(ms) * NS_PER_MS;
  }
}
