import type { LogPosition } from '../bus.js';
import type { Claim } from '../log/log_batch.js';
import type { LogWriterOptions } from '../log/log_writer.js';
import { Term, type TermOptions } from './term.js';

export interface LeadershipOptions
  extends Omit<TermOptions, 'epoch' | 'claimedMs' | 'failed' | 'overflowed'> {
  readonly follower: LogWriterOptions['follower'];
  readonly host: LeaderHost;
  /** Returns the record that ends a term. */
  readonly resignation: () => Claim;
}

/** The callbacks of a node that may lead. */
export interface LeaderHost {
  /**
   * Called when this node begins to lead. From now on the node makes prices from all applied records, and signs only aggregates that are
   * newer than every applied aggregate. Ticks begin when this function returns or resolves, so the function must first report all live
   * prices. If the function fails, the node resigns.
   */
  lead(term: Term): void | Promise<void>;
  /** Called when the term is over. From now on the node makes no prices. */
  stepDown(reason: string): void;
  /** Returns true while this node is healthy. An unhealthy node does not lead. */
  healthy(): boolean;
}

/**
 * The terms of a node. A term begins when the node's claim is applied. It ends when another node leads, when this node resigns, or when
 * this node cannot write to the log.
 */
export class Leadership {
  readonly #options: LeadershipOptions;
  #term: Term | undefined;
  #resigning: { readonly term: Term; readonly untilMs: number; readonly done: () => void } | undefined;
  #failedWrites = 0;

  constructor(options: LeadershipOptions) {
    this.#options = options;
  }

  /** The current term, if this node leads. */
  get term(): Term | undefined {
    return this.#term;
  }

  /** True after the node has stopped making prices, until the last record of the term is written. */
  get isResigning(): boolean {
    return this.#resigning !== undefined;
  }

  /** The number of writes that were refused or whose outcome is unknown. */
  get failedWrites(): number {
    return this.#failedWrites;
  }

  /** @param claimedMs the time at which the applied claim was sent */
  begin(epoch: number, claimedMs: number): void {
    const { host, bus, follower, taxonomy, shown, timing, nowMs, defer } = this.#options;
    const term = new Term({
      bus,
      follower,
      taxonomy,
      shown,
      timing,
      nowMs,
      defer,
      epoch,
      claimedMs,
      failed: () => {
        this.#failedWrites++;
      },
      overflowed: () => this.end('the log takes no writes, and too much waits'),
    });
    this.#term = term;
    new Promise<void>((resolve) => resolve(host.lead(term))).then(
      () => term.startTicks(),
      (error: Error) => {
        if (this.#term === term) void this.resign(`it cannot make prices: ${error.message}`);
      },
    );
  }

  /** Resigns. Resolves when the log has the resignation, when another node leads, or when a lease has passed. */
  resign(reason: string): Promise<void> {
    const { host, nowMs, timing, resignation } = this.#options;
    const term = this.#term;
    if (term === undefined) return Promise.resolve();
    this.#term = undefined;
    return new Promise((done) => {
      this.#resigning = { term, untilMs: nowMs() + timing.leaseMs, done };
      host.stepDown(reason);
      term.resign(resignation());
    });
  }

  /** Ends the current term or resignation, if any. */
  end(reason: string): void {
    const term = this.#term;
    this.#term = undefined;
    term?.end();
    if (term !== undefined) this.#options.host.stepDown(reason);
    this.resigned();
  }

  /** Ends a resignation, because the log has the term's last record or no longer needs it. */
  resigned(): void {
    const resigning = this.#resigning;
    this.#resigning = undefined;
    resigning?.term.end();
    resigning?.done();
  }

  /** Notes that a record has been applied. */
  applied(position: LogPosition): void {
    (this.#term ?? this.#resigning?.term)?.applied(position);
  }

  tick(nowMs: number): void {
    const { host } = this.#options;
    if (this.#term !== undefined && !host.healthy()) void this.resign('the node is not healthy');
    if (this.#term !== undefined && nowMs >= this.#term.leaseEndMs)
      this.end('the log takes no writes: another node may lead');
    if (this.#resigning !== undefined && nowMs >= this.#resigning.untilMs) this.resigned();
    (this.#term ?? this.#resigning?.term)?.tick(nowMs);
  }

  nextDueMs(): number {
    if (this.#resigning !== undefined)
      return Math.min(this.#resigning.term.nextDueMs(), this.#resigning.untilMs);
    if (this.#term === undefined) return Number.POSITIVE_INFINITY;
    return Math.min(this.#term.nextDueMs(), this.#term.leaseEndMs);
  }
}
