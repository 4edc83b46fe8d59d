import type { Trouble } from '../../clock/clock_watch.js';
import { type Clock, type JumpWitness, NS_PER_MS } from '../../model/time.js';
import type { LogReport, LogServers, ServerDisk } from '../log/log_servers.js';
import { LogDisks } from './log_disks.js';

export interface ServerWatchOptions {
  readonly servers: LogServers;
  readonly clock: Clock;
  /** Called when {@link ServerWatch.goneStreams} changes. */
  readonly onGoneStreams: (reasons: readonly string[]) => void;
  /** Called with the reason when a power cut may lose acknowledged records, and with `undefined` when they are all on disk. */
  readonly onForgetful: (reason: string | undefined) => void;
  /** True if this node asks the servers whether acknowledged records are on disk. */
  readonly asksDisks: boolean;
}

const ASK_INTERVAL_MS = 10_000;
/**
 * The interval between requests before the first answer, after a missing answer and during a jump of the wall clock. The servers do not
 * answer during an election.
 */
const ASK_AGAIN_MS = 1_000;
/** The time after which the log counts as without a leader among the servers. An election takes at most 9 s. */
const LEADERLESS_MS = 10_000;
/** The largest difference between a correct clock and the servers' clocks. */
const CLOCK_ERROR_MS_MAX = 1_000;

/** Requests the state of the servers regularly, and compares their clock with this node's clock. */
export class ServerWatch {
  readonly #options: ServerWatchOptions;
  #askedMs = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  #log: LogReport | undefined;
  #goneStreams: readonly string[] = [];
  #isJumping = false;
  #nowMs = 0;
  /** The time of the first request that failed since the last answer; `undefined` while a server leads the log. */
  #leaderlessFromMs: number | undefined;
  readonly #disks: LogDisks | undefined;

  constructor(options: ServerWatchOptions) {
    this.#options = options;
    if (options.asksDisks) this.#disks = new LogDisks();
  }

  /** The number of servers that may lose acknowledged records in a power cut; `undefined` when this node does not ask. */
  get forgetfulServers(): number | undefined {
    return this.#disks?.forgetfulCount;
  }

  /** The reason why a power cut may lose acknowledged records; `undefined` when they are all on disk, or when this node does not ask. */
  get forgetful(): string | undefined {
    return this.#disks?.doubt;
  }

  /** The number of servers with a complete copy of the log; `undefined` before a server's first answer. */
  get logCopies(): number | undefined {
    return this.#log?.currentCopies;
  }

  /** A sentence for each stream that the servers no longer have. */
  get goneStreams(): readonly string[] {
    return this.#goneStreams;
  }

  /**
   * The reason why nothing can be written to the log: no server leads it, or this node cannot use its server. `undefined` while a server
   * leads the log, and in an election.
   */
  get leaderless(): string | undefined {
    const { serverProblem } = this.#options.servers;
    if (serverProblem !== undefined) return serverProblem;
    const forMs = this.#nowMs - (this.#leaderlessFromMs ?? this.#nowMs);
    if (forMs < LEADERLESS_MS) return undefined;
    const forS = Math.floor(forMs / 1_000);
    return `no NATS server has led the log for ${forS} s, so nothing can be written: do most of the servers run, and reach each other?`;
  }

  /** The time by which this node's clock is ahead of the servers' clock, if the difference is certainly too large; otherwise 0. */
  get clockWrongMs(): number {
    if (this.#log === undefined) return 0;
    const { clockAheadMs, clockErrorMs } = this.#log;
    return Math.abs(clockAheadMs) > CLOCK_ERROR_MS_MAX + clockErrorMs ? -clockAheadMs : 0;
  }

  /** True when this node's clock is correct; `undefined` before a server's first answer. */
  get isClockRight(): boolean | undefined {
    return this.#log && this.clockWrongMs === 0;
  }

  /** Returns whether the servers' clock confirms that the wall clock is correct after a jump. */
  readonly confirmsJump: JumpWitness = (jumpNs) => {
    if (this.#log === undefined) return false;
    const { clockAheadMs, clockErrorMs } = this.#log;
    const differenceMs = Math.abs(clockAheadMs - Number(jumpNs) / Number(NS_PER_MS));
    return differenceMs <= CLOCK_ERROR_MS_MAX + clockErrorMs;
  };

  /** Returns the latest time that a correct clock could show; `undefined` before a server's first answer. */
  latestNs(): bigint | undefined {
    if (this.#log === undefined) return undefined;
    const { clockAheadMs, clockErrorMs } = this.#log;
    const aheadMs = Math.ceil(clockAheadMs + clockErrorMs) + CLOCK_ERROR_MS_MAX;
    return Number.isFinite(aheadMs) ? this.#options.clock.nowNs() + BigInt(aheadMs) * NS_PER_MS : undefined;
  }

  readonly trouble: Trouble = {
    reason: () => {
      const wrongMs = this.clockWrongMs;
      if (wrongMs === 0) return undefined;
      const seconds = (Math.abs(wrongMs) / 1_000).toFixed(1);
      return `the clock is ${seconds} s ${wrongMs > 0 ? 'ahead of' : 'behind'} the NATS servers': a node whose clock is right leads, if there is one`;
    },
    over: "the clock agrees with the NATS servers' again",
  };

  /**
   * Requests the state of the servers when a request is due.
   * @param nowMs the time of a monotonic clock
   */
  tick(nowMs: number): void {
    this.#nowMs = nowMs;
    const { servers, clock } = this.#options;
    const { jumpNs = 0n } = clock;
    const isSoon =
      this.#log === undefined || this.#leaderlessFromMs !== undefined || this.#isJumping || jumpNs !== 0n;
    if (this.#isAsking || nowMs < this.#askedMs + (isSoon ? ASK_AGAIN_MS : ASK_INTERVAL_MS)) return;
    this.#isJumping = jumpNs !== 0n;
    const wallMs = () => Number(clock.nowNs() / NS_PER_MS);
    this.#askedMs = nowMs;
    this.#isAsking = true;
    servers
      .serverReport(wallMs, this.#disks !== undefined)
      .then(({ log, goneStreams, disks }) => {
        this.#log = log ?? this.#log;
        this.#leaderlessFromMs = undefined;
        this.#noteGone(goneStreams);
        if (disks !== undefined) this.#noteDisks(disks, nowMs);
      })
      // Servers do not answer during an election. The next request follows later.
      .catch(() => {
        this.#leaderlessFromMs ??= nowMs;
      })
      .finally(() => {
        this.#isAsking = false;
      });
  }

  #noteDisks(disks: readonly ServerDisk[], nowMs: number): void {
    const before = this.forgetful;
    this.#disks?.note(disks, nowMs);
    if (this.forgetful !== before) this.#options.onForgetful(this.forgetful);
  }

  #noteGone(reasons: readonly string[]): void {
    if (reasons.join() === this.#goneStreams.join()) return;
    this.#goneStreams = reasons;
    this.#options.onGoneStreams(reasons);
  }
}
