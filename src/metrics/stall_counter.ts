import { NS_PER_MS, type TimeNs } from '../model/time.js';
import type { Counters } from './counters.js';

/** Ticks are at most 250 ms apart, and a tick that is later than that by half a second comes after a stall. */
const TICK_GAP_NS_MAX = 750n * NS_PER_MS;

/** Counts the stalls of a thread's event loop. Unlike a largest delay, a count is not lost between two readers of the metrics. */
export class StallCounter {
  readonly #counters: Counters;
  #lastNs: TimeNs | undefined;

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /** Called by each tick of the thread. */
  tick(nowNs: TimeNs): void {
    if (this.#lastNs !== undefined && nowNs - this.#lastNs > TICK_GAP_NS_MAX)
      this.#counters.eventLoopStalls++;
    this.#lastNs = nowNs;
  }
}
