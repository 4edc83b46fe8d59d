import type { Logger } from 'pino';
import { type Clock, NS_PER_MS, NS_PER_SECOND, type TimeNs } from '../model/time.js';
import type { AggregateTimes } from './aggregate_times.js';
import type { StreamTimes } from './stream_times.js';

/** The largest amount by which signed times may be ahead of the clock without a reported fault. */
const AHEAD_NS_MAX = NS_PER_SECOND;
/** The shortest interval between two checks. */
const CHECK_INTERVAL_NS = 100n * NS_PER_MS;

export interface ClockWatchOptions {
  readonly clock: Clock;
  readonly troubles: readonly Trouble[];
  readonly logger: Pick<Logger, 'warn' | 'info'>;
}

/** A fault of the clock or of the signed times. */
export interface Trouble {
  /** Returns the text for `/readyz` and the log; `undefined` while there is no trouble. */
  readonly reason: (nowNs: TimeNs) => string | undefined;
  readonly over: string;
}

/** Returns the trouble of the clock. */
export function clockTrouble(clock: Clock): Trouble {
  return {
    reason: () =>
      clockJumpSeconds(clock) === 0
        ? undefined
        : `the wall clock jumped by ${secondsText(clockJumpSeconds(clock))}; it is believed when it has lasted 10 s, in a cluster when the NATS servers agree`,
    over: 'the wall clock and the clock of the service agree again',
  };
}

/** Returns the troubles of the clock and of the aggregates' times. */
export function aggregateTroubles(clock: Clock, times: AggregateTimes): readonly Trouble[] {
  return [
    clockTrouble(clock),
    {
      reason: () =>
        times.aheadNs > AHEAD_NS_MAX
          ? `aggregates are signed with times ${secondsText(secondsOf(times.aheadNs))} ahead of the clock, because the clock was ahead before, or the last process was killed less than 1 s ago; signed times only grow`
          : undefined,
      over: 'aggregates are signed with the time of the clock again',
    },
    {
      reason: (nowNs) =>
        times.isHeld(nowNs) ? 'no aggregates are signed: their time mark is not on disk' : undefined,
      over: 'aggregates are signed again',
    },
  ];
}

/** Returns the troubles of the streaming payloads' times. */
export function streamTroubles(times: StreamTimes): readonly Trouble[] {
  return [
    {
      reason: () =>
        times.aheadNs > AHEAD_NS_MAX
          ? `streams opened earlier carry times ${secondsText(secondsOf(times.aheadNs))} ahead of the clock`
          : undefined,
      over: 'all streams carry the time of the clock again',
    },
    {
      reason: (nowNs) =>
        times.isHeld(nowNs)
          ? 'signed stream frames wait: their time mark is not on disk, or the clock is behind the times of all eras'
          : undefined,
      over: 'signed stream frames are sent again',
    },
  ];
}

/**
 * Returns the time in seconds by which the wall clock is ahead of the service's clock; 0 unless a jump of the wall clock waits
 * for acceptance.
 */
export function clockJumpSeconds({ jumpNs = 0n }: Clock): number {
  return secondsOf(jumpNs);
}

/**
 * Reports faults of the clock and of the signed times. The log shows when a fault begins and ends, and every caller can read the
 * current faults.
 */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  readonly #present = new Set<Trouble>();
  #lookedNs: bigint | undefined;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
  }

  /** Checks for trouble. The caller must call this method at least a few times a second. */
  tick(nowNs: TimeNs): void {
    const lookedNs = this.#lookedNs;
    // If the clock went back, the check runs immediately.
    if (lookedNs !== undefined && nowNs >= lookedNs && nowNs - lookedNs < CHECK_INTERVAL_NS) return;
    this.#lookedNs = nowNs;
    const { troubles, logger } = this.#options;
    for (const trouble of troubles) {
      const reason = trouble.reason(nowNs);
      const isSo = reason !== undefined;
      if (isSo === this.#present.has(trouble)) continue;
      if (isSo) {
        this.#present.add(trouble);
        logger.warn(reason);
      } else {
        this.#present.delete(trouble);
        logger.info(trouble.over);
      }
    }
  }

  /** Returns the current troubles. */
  reasons(): string[] {
    const { clock, troubles } = this.#options;
    const nowNs = clock.nowNs();
    return troubles.flatMap(({ reason }) => reason(nowNs) ?? []);
  }
}

export function secondsOf(durationNs: bigint): number {
  return Number(durationNs) / Number(NS_PER_SECOND);
}

function secondsText(seconds: number): string {
  return `${seconds.toFixed(1)} s`;
}
