import type { Counters } from '../../model/counters.js';
import { NS_PER_MS, type TimeNs } from '../../model/time.js';

/** The largest normal gap between ticks. Ticks are at most 250 ms apart. A further delay of half a second is a stall. */
const TICK_GAP_NS_MAX = 750n * NS_PER_MS;

/**
 * Counts the stalls of a thread's event loop. A count stays correct when two servers scrape the metrics. The largest delay since
 * the last scrape would not.
 */
export class StallCounter {
  readonly #counters: Counters;
  #lastNs: TimeNs | undefined;

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /** Records a tick. Each tick of the thread must call this method. */
  tick(nowNs: TimeNs): void {
    if (this.#lastNs !== undefined && nowNs - this.#lastNs > TICK_GAP_NS_MAX)
      this.#counters.eventLoopStalls++;
    this.#lastNs = nowNs;
  }
}
