import type { Bus, LogPosition } from '../bus.js';
import type { ClusterTiming } from '../timing.js';

/**
 * The time without ticks, in leases, after which a node changes its server. It is longer than the failover to another leader, which needs
 * no change of server.
 */
const TICK_SILENCE_LEASES = 1.1;
/** The time within which the servers answer a claim, unless they cannot. */
const CLAIM_MS = 250;
/**
 * The time for which a silence must last after it is noticed. A process that was stalled first notices a silence, and then reads the
 * messages that have arrived meanwhile.
 */
const CONFIRM_MS = 100;
/** The number of changes of server without a longer wait. Two changes reach each of three servers. */
const QUICK_MOVES = 2;

export interface SilenceWatchOptions {
  readonly bus: Pick<Bus, 'reconnect'>;
  readonly timing: Pick<ClusterTiming, 'leaseMs' | 'silenceMs' | 'logSilenceMs' | 'tickLeaseMs'>;
  readonly nowMs: () => number;
  /** Returns the last applied record of the log, and the time at which it was applied. */
  readonly applied: () => { readonly position: LogPosition; readonly appliedMs: number };
  /** Returns the time of the last tick from the leader; `undefined` while this node leads. */
  readonly tickMs: () => number | undefined;
  /** Returns the time at which this node sent the claim that is not answered yet. */
  readonly claimingMs: () => number | undefined;
  /** Returns what the other nodes report. */
  readonly others: () => OtherNodes;
}

/** The facts about the other nodes that show that this node's server lacks the messages of another server. */
export interface OtherNodes {
  /** The highest sequence of the log that any aggregator has reported as applied. */
  readonly appliedMax: number;
  /** The time at which {@link appliedMax} last grew. */
  readonly appliedMaxMs: number;
  /** True when the reports of another node have stopped. */
  readonly isOneMissing: boolean;
}

/**
 * Connects to another message server in three cases:
 * 1. No message from another node arrives.
 * 2. The log is silent. A server that is cut off from the other servers may still deliver messages of the nodes on its side of the cut.
 * 3. No ticks arrive. Two servers whose link is broken do not receive each other's messages, although both reach the third server,
 *    because no server passes on the messages of another.
 */
export class SilenceWatch {
  readonly #options: SilenceWatchOptions;
  #heardMs: number;
  #movedMs: number;
  #claimedMs = Number.NEGATIVE_INFINITY;
  /** The number of changes of server, each at most a tick lease after the one before. */
  #moves = 0;
  /** The time at which the current silence was noticed. */
  #noticedMs: number | undefined;

  constructor(options: SilenceWatchOptions) {
    this.#options = options;
    this.#heardMs = options.nowMs();
    this.#movedMs = this.#heardMs;
  }

  /** Notes that a message from another node arrived. */
  readonly received = (): void => {
    this.#heardMs = this.#options.nowMs();
  };

  /** Notes an applied record. After a claim, the ticks of the new leader are awaited. */
  applied(isClaim: boolean): void {
    this.received();
    if (isClaim) this.#claimedMs = this.#heardMs;
  }

  tick(nowMs: number): void {
    if (nowMs < this.#silentMs()) {
      this.#noticedMs = undefined;
      return;
    }
    // A late call means that the process was stalled again.
    if (this.#noticedMs === undefined || nowMs > this.#noticedMs + 2 * CONFIRM_MS) this.#noticedMs = nowMs;
    if (nowMs < this.#noticedMs + CONFIRM_MS) return;
    this.#noticedMs = undefined;
    this.#moves = nowMs < this.#movedMs + this.#options.timing.tickLeaseMs ? this.#moves + 1 : 1;
    this.#heardMs = nowMs;
    this.#movedMs = nowMs;
    this.#options.bus.reconnect();
  }

  nextDueMs(): number {
    return this.#noticedMs === undefined ? this.#silentMs() : this.#noticedMs + CONFIRM_MS;
  }

  #silentMs(): number {
    const nothingMs = this.#heardMs + this.#options.timing.silenceMs * this.#patience;
    return Math.min(nothingMs, this.#logDueMs(), this.#ticksDueMs());
  }

  /** The factor of the waiting times. If no server helps, for example when all machines are overloaded, more changes do harm. */
  get #patience(): number {
    const { nowMs, timing } = this.#options;
    return nowMs() < this.#movedMs + timing.tickLeaseMs ? 2 ** Math.max(0, this.#moves + 1 - QUICK_MOVES) : 1;
  }

  /**
   * Returns the time at which a silent log causes the next change of server. During an election among the servers, the log is silent on
   * every node. So the node changes its server once, and again only after other nodes have had time to write. A node that other nodes are
   * ahead of does not wait, because the log goes on elsewhere.
   */
  #logDueMs(): number {
    const { timing, applied } = this.#options;
    return Math.max(applied().appliedMs, this.#movedMs) + Math.min(this.#logSilenceMs, timing.tickLeaseMs);
  }

  get #logSilenceMs(): number {
    const { timing, applied } = this.#options;
    if (this.#areOthersAhead) return timing.silenceMs * this.#patience;
    const hasMoved = this.#movedMs > applied().appliedMs;
    return hasMoved ? timing.tickLeaseMs : this.#firstLogSilenceMs;
  }

  /**
   * The silence of the log after which this node first changes its server. The leader goes first, because the other nodes receive the log
   * again where they are as soon as it can write. If a node is missing, this node's server may be the cut off one.
   */
  get #firstLogSilenceMs(): number {
    const { timing, tickMs, others } = this.#options;
    const leads = tickMs() === undefined;
    return leads || others().isOneMissing ? timing.silenceMs : timing.logSilenceMs;
  }

  get #areOthersAhead(): boolean {
    const { position, appliedMs } = this.#options.applied();
    const { appliedMax, appliedMaxMs } = this.#options.others();
    return appliedMax > position.sequence && appliedMaxMs > appliedMs;
  }

  /**
   * Returns the time at which missing ticks cause the next change of server. If the log is silent too, there may be no leader, so the node
   * changes its server only once.
   */
  #ticksDueMs(): number {
    const { timing, nowMs, applied, tickMs, claimingMs } = this.#options;
    const lastMs = tickMs();
    if (lastMs === undefined) return Number.POSITIVE_INFINITY;
    const isLogSilent = nowMs() - applied().appliedMs > timing.leaseMs && !this.#areOthersAhead;
    if (isLogSilent && this.#movedMs > lastMs) return Number.POSITIVE_INFINITY;
    const silenceMs = timing.leaseMs * TICK_SILENCE_LEASES * this.#patience;
    const answerMs = (claimingMs() ?? Number.NEGATIVE_INFINITY) + CLAIM_MS;
    return Math.max(Math.max(lastMs, this.#movedMs, this.#claimedMs) + silenceMs, answerMs);
  }
}
