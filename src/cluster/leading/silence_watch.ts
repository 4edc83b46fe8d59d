import type { Bus } from '../bus.js';
import type { ClusterTiming } from '../timing.js';

export interface SilenceWatchOptions {
  readonly bus: Pick<Bus, 'reconnect'>;
  readonly timing: Pick<ClusterTiming, 'leaseMs' | 'silenceMs' | 'logSilenceMs' | 'tickLeaseMs'>;
  readonly nowMs: () => number;
  /** Returns the time at which the last record of the log was applied. */
  readonly appliedMs: () => number;
  /** Returns the time of the last tick from the leader; `undefined` while this node leads. */
  readonly tickMs: () => number | undefined;
}

/**
 * Connects to another message server in three cases:
 * 1. No message from another node arrives.
 * 2. The log is silent. A server that is cut off from the other servers may still deliver messages of the nodes on its side of the cut.
 * 3. The log continues but no ticks arrive, because messages outside the log are not routed around a broken link.
 */
export class SilenceWatch {
  readonly #options: SilenceWatchOptions;
  #heardMs: number;
  #movedMs: number;

  constructor(options: SilenceWatchOptions) {
    this.#options = options;
    this.#heardMs = options.nowMs();
    this.#movedMs = this.#heardMs;
  }

  /** Notes that a message from another node arrived. */
  readonly received = (): void => {
    this.#heardMs = this.#options.nowMs();
  };

  tick(nowMs: number): void {
    if (nowMs < this.nextDueMs()) return;
    this.#heardMs = nowMs;
    this.#movedMs = nowMs;
    this.#options.bus.reconnect();
  }

  nextDueMs(): number {
    return Math.min(this.#heardMs + this.#options.timing.silenceMs, this.#logDueMs(), this.#ticksDueMs());
  }

  /**
   * Returns the time at which a silent log causes the next change of server. During an election among the servers, the log is silent on
   * every node. So the node changes its server once, and again only after other nodes have had time to write.
   */
  #logDueMs(): number {
    const { timing, appliedMs } = this.#options;
    const lastMs = appliedMs();
    const hasMoved = this.#movedMs > lastMs;
    const silenceMs = hasMoved ? timing.tickLeaseMs : Math.min(timing.logSilenceMs, timing.tickLeaseMs);
    return Math.max(lastMs, this.#movedMs) + silenceMs;
  }

  #ticksDueMs(): number {
    const { timing, nowMs, appliedMs, tickMs } = this.#options;
    const lastMs = tickMs();
    if (lastMs === undefined || nowMs() - appliedMs() > timing.leaseMs) return Number.POSITIVE_INFINITY;
    return Math.max(lastMs, this.#movedMs) + timing.silenceMs;
  }
}
