import type { Bus, LogPosition, LogRecord } from '../bus.js';
import { type Claim, encodeLogBatch } from '../log/log_batch.js';
import { type ClusterTiming, LEASE_MARGIN, RANK_DELAY_MS } from '../timing.js';

/** Later standbys wait no longer than this one. */
const RANK_MAX = 10;
/** A leader that ticked within this part of the lease is there. */
const TICK_SHARE = 0.6;

export interface ClaimantOptions {
  readonly bus: Pick<Bus, 'append'>;
  readonly follower: {
    readonly position: LogPosition;
    readonly appliedMs: number;
    offer(record: LogRecord): void;
    catchUp(): Promise<void>;
  };
  readonly newId: () => string;
  readonly claim: () => Claim;
  /** Standbys that claim before this one. */
  readonly rank: () => number;
  /** When the last tick of the leader came. */
  readonly tickMs: () => number;
  readonly timing: Pick<ClusterTiming, 'leaseMs' | 'tickLeaseMs' | 'retryMs'>;
  readonly nowMs: () => number;
}

/**
 * Claims the lead for a standby: by a write that expects what this node has applied, so that of all who claim at a time one wins, and
 * only one who has applied everything. How long it waits decides when, not whether that is safe.
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

  /** When this claim was sent; long ago for one that was given up and came through late. */
  sentMsOf(id: string): number {
    return id === this.#sent.id ? this.#sent.atMs : Number.NEGATIVE_INFINITY;
  }

  /** Nobody leads: another node has resigned. */
  resigned(): void {
    this.#resignedMs = this.#options.nowMs();
  }

  /** Somebody leads. */
  claimed(): void {
    this.#resignedMs = undefined;
  }

  tick(nowMs: number): void {
    if (nowMs >= this.nextDueMs()) this.#claim(nowMs);
  }

  nextDueMs(): number {
    if (this.#isClaiming) return Number.POSITIVE_INFINITY;
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
    const { bus, follower, newId, claim } = this.#options;
    const after = follower.position;
    const sequence = after.sequence + 1;
    const id = newId();
    const bytes = encodeLogBatch({ epoch: sequence, after: after.id, claim: claim(), entries: [] });
    this.#isClaiming = true;
    this.#sent = { id, atMs: nowMs };
    bus
      .append(after, id, bytes)
      .then((appended) => {
        if (appended === sequence) follower.offer({ sequence, id, bytes });
      })
      // Somebody else was first, or nobody knows: the log says who leads.
      .catch(() => follower.catchUp())
      .finally(() => {
        this.#isClaiming = false;
        this.#retryMs = this.#options.nowMs() + this.#options.timing.retryMs;
      });
  }
}
