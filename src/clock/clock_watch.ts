import type { Logger } from 'pino';
import { type Clock, NS_PER_MS, NS_PER_SECOND, type TimeNs } from '../model/time.js';
import type { AggregateTimes } from './aggregate_times.js';
import type { StreamTimes } from './stream_times.js';

/** Signed times that are further ahead of the clock are reported. */
const AHEAD_NS_MAX = NS_PER_SECOND;
/** Trouble is looked for this often at most. */
const LOOK_INTERVAL_NS = 100n * NS_PER_MS;

export interface ClockWatchOptions {
  readonly clock: Clock;
  readonly troubles: readonly Trouble[];
  readonly logger: Pick<Logger, 'warn' | 'info'>;
}

/** Something that is wrong with the time for a while. */
export interface Trouble {
  /** As `/readyz` and the log say it; `undefined` while it is not so. */
  readonly reason: (nowNs: TimeNs) => string | undefined;
  readonly over: string;
}

/** Of the clock. */
export function clockTrouble(clock: Clock): Trouble {
  return {
    reason: () =>
      clockJumpSeconds(clock) === 0
        ? undefined
        : `the wall clock jumped by ${secondsText(clockJumpSeconds(clock))}; that is believed when it has lasted 10 s`,
    over: 'the wall clock and the clock of the service agree again',
  };
}

/** Of the clock and the times of aggregates. */
export function aggregateTroubles(clock: Clock, times: AggregateTimes): readonly Trouble[] {
  return [
    clockTrouble(clock),
    {
      reason: () =>
        times.aheadNs > AHEAD_NS_MAX
          ? `aggregates are signed with times ${secondsText(secondsOf(times.aheadNs))} ahead of the clock`
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

/** Of the times of streaming payloads. */
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

/** How far the wall clock is ahead of the service's clock while a jump of it is not believed. */
export function clockJumpSeconds({ jumpNs = 0n }: Clock): number {
  return secondsOf(jumpNs);
}

/** Says what is wrong with the clock and the signed times: in the log when it begins and ends, and to whoever asks. */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  readonly #present = new Set<Trouble>();
  #lookedNs: bigint | undefined;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
  }

  /** To be called a few times a second, or more often. */
  tick(nowNs: TimeNs): void {
    const lookedNs = this.#lookedNs;
    // After the clock was stepped back it looks at once.
    if (lookedNs !== undefined && nowNs >= lookedNs && nowNs - lookedNs < LOOK_INTERVAL_NS) return;
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

  /** What is wrong now. */
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
