import type { LogPosition } from '../bus.js';
import type { Claim } from '../log/log_batch.js';
import type { LogWriterOptions } from '../log/log_writer.js';
import { Term, type TermOptions } from './term.js';

export interface LeadershipOptions
  extends Omit<TermOptions, 'epoch' | 'claimedMs' | 'failed' | 'overflowed'> {
  readonly follower: LogWriterOptions['follower'];
  readonly host: LeaderHost;
  /** The record with which a term ends. */
  readonly resignation: () => Claim;
}

/** What a node does about leading. */
export interface LeaderHost {
  /**
   * Make prices from now on, of all that was applied. Aggregates are signed with times after the newest applied one. Ticks begin when
   * this returns or resolves, so tell all live prices before; when it fails, the node resigns.
   */
  lead(term: Term): void | Promise<void>;
  /** The term is over: make no more prices. */
  stepDown(reason: string): void;
  /** An unhealthy node does not lead. */
  healthy(): boolean;
}

/** The terms of a node: begins one, and ends it when another node leads, when the node resigns, or when it cannot write. */
export class Leadership {
  readonly #options: LeadershipOptions;
  #term: Term | undefined;
  #resigning: { readonly term: Term; readonly untilMs: number; readonly done: () => void } | undefined;
  #failedWrites = 0;

  constructor(options: LeadershipOptions) {
    this.#options = options;
  }

  /** The node leads. */
  get term(): Term | undefined {
    return this.#term;
  }

  /** The node makes no more prices, and its last record is on its way. */
  get isResigning(): boolean {
    return this.#resigning !== undefined;
  }

  /** Writes that were refused, or of which nobody knew what became. */
  get failedWrites(): number {
    return this.#failedWrites;
  }

  /** @param claimedMs when the claim that was applied now had been sent */
  begin(epoch: number, claimedMs: number): void {
    const { host, bus, follower, newId, taxonomy, shown, timing, nowMs, defer } = this.#options;
    const term = new Term({
      bus,
      follower,
      newId,
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

  /** Resolves when the log says so, another node leads, or a lease has passed. */
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

  /** No term goes on from here. */
  end(reason: string): void {
    const term = this.#term;
    this.#term = undefined;
    term?.end();
    if (term !== undefined) this.#options.host.stepDown(reason);
    this.resigned();
  }

  /** The last record of a term is in the log, or does not matter any more. */
  resigned(): void {
    const resigning = this.#resigning;
    this.#resigning = undefined;
    resigning?.term.end();
    resigning?.done();
  }

  /** A record has been applied. */
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
