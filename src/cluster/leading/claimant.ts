import type { Bus, LogPosition, LogRecord } from '../bus.js';
import type { Claim } from '../log/log_batch.js';
import { chainedRecord } from '../log/record_chain.js';
import { type ClusterTiming, LEASE_MARGIN, RANK_DELAY_MS } from '../timing.js';

/** The highest rank that adds waiting time. A standby with a higher rank does not wait longer. */
const RANK_MAX = 10;
/** The fraction of the lease within which a live leader must have sent a tick. */
const TICK_SHARE = 0.6;

export interface ClaimantOptions {
  readonly bus: Pick<Bus, 'append'>;
  readonly follower: {
    readonly position: LogPosition;
    readonly lastId: string;
    readonly appliedMs: number;
    readonly isBehind: boolean;
    offer(record: LogRecord): void;
    catchUp(): Promise<void>;
  };
  readonly claim: () => Claim;
  /** Returns the number of standbys that may claim before this standby. */
  readonly rank: () => number;
  /** Returns the time of the leader's last tick. */
  readonly tickMs: () => number;
  readonly timing: Pick<ClusterTiming, 'leaseMs' | 'tickLeaseMs' | 'retryMs'>;
  readonly nowMs: () => number;
}

/**
 * Claims the lead for a standby. A claim is a write that expects the last record that this node has applied. So if several nodes claim at
 * the same time, only one wins, and the winner has applied every record. A claim is safe at any time; the waiting time only decides when a
 * node claims.
 */
export class Claimant {
  readonly #options: ClaimantOptions;
  #isClaiming = false;
  #retryMs = 0;
  #sent = { id: '', atMs: Number.NEGATIVE_INFINITY };
  #resignedMs: number | undefined;

  constructor(options: ClaimantOptions) {
    this.#options = options;
  }

  /** Returns the time at which this node sent the claim; minus infinity for an abandoned claim that arrived late. */
  sentMsOf(id: string): number {
    return id === this.#sent.id ? this.#sent.atMs : Number.NEGATIVE_INFINITY;
  }

  /** The time at which this node sent the claim that is not answered yet; `undefined` without such a claim. */
  get claimingMs(): number | undefined {
    return this.#isClaiming ? this.#sent.atMs : undefined;
  }

  /** Notes that the leader has resigned, so that no node leads. */
  resigned(): void {
    this.#resignedMs = this.#options.nowMs();
  }

  /** Notes that a node leads. */
  claimed(): void {
    this.#resignedMs = undefined;
  }

  tick(nowMs: number): void {
    if (nowMs >= this.nextDueMs()) this.#claim(nowMs);
  }

  nextDueMs(): number {
    // If the log has lost records that this node knows, the servers would accept a claim in place of a lost record.
    if (this.#isClaiming || this.#options.follower.isBehind) return Number.POSITIVE_INFINITY;
    return Math.max(this.#retryMs, this.#dueMs());
  }

  #dueMs(): number {
    const { follower, timing, rank, tickMs } = this.#options;
    const delayMs = Math.min(rank(), RANK_MAX) * RANK_DELAY_MS;
    if (this.#resignedMs !== undefined) return this.#resignedMs + delayMs;
    const deadMs = Math.max(
      follower.appliedMs + timing.leaseMs * LEASE_MARGIN + delayMs,
      tickMs() + timing.leaseMs * TICK_SHARE,
    );
    const cannotWriteMs = follower.appliedMs + timing.tickLeaseMs * LEASE_MARGIN + delayMs;
    return Math.min(deadMs, cannotWriteMs);
  }

  #claim(nowMs: number): void {
    const { bus, follower, claim } = this.#options;
    const after = follower.position;
    const sequence = after.sequence + 1;
    const record = chainedRecord({
      epoch: sequence,
      sequence,
      after: follower.lastId,
      claim: claim(),
      entries: [],
    });
    this.#isClaiming = true;
    this.#sent = { id: record.id, atMs: nowMs };
    bus
      .append(after, record.id, record.bytes)
      .then((appended) => {
        if (appended === sequence) follower.offer(record);
      })
      // Another node claimed first, or the outcome is unknown. The log shows which node leads.
      .catch(() => follower.catchUp())
      .finally(() => {
        this.#isClaiming = false;
        this.#retryMs = this.#options.nowMs() + this.#options.timing.retryMs;
      });
  }
}
