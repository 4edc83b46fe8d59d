import type { Bus } from '../bus.js';
import type { ClusterTiming } from '../timing.js';

export interface SilenceWatchOptions {
  readonly bus: Pick<Bus, 'reconnect'>;
  readonly timing: Pick<ClusterTiming, 'leaseMs' | 'silenceMs' | 'logSilenceMs' | 'tickLeaseMs'>;
  readonly nowMs: () => number;
  /** When the last record of the log was applied. */
  readonly appliedMs: () => number;
  /** When the last price of the leader came; `undefined` while this node leads. */
  readonly tickMs: () => number | undefined;
}

/**
 * Goes to another message server when nothing comes of other nodes; when the log is silent, for a server that is cut off from the others may
 * still bring what the nodes behind the same cut say; and when the log goes on without prices, for what is not in the log does not take another
 * way around a link that is cut.
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

  /** Something came of another node. */
  readonly heard = (): void => {
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

  /** The log is also silent while the servers elect, wherever a node is: so it moves once, and again only when others could write long since. */
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
