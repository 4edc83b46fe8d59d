import type { Logger } from 'pino';
import { type Clock, NS_PER_SECOND, type TimeNs } from '../model/time.js';
import type { AggregateTimes } from './aggregate_times.js';
import type { StreamTimes } from './stream_times.js';

/** Signed times that are further ahead of the clock are reported. */
const AHEAD_NS_MAX = NS_PER_SECOND;

export interface ClockWatchOptions {
  readonly clock: Clock;
  readonly aggregates: AggregateTimes;
  readonly streams: StreamTimes;
  readonly logger: Pick<Logger, 'warn' | 'info'>;
}

type Health = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Something that is wrong with the time for a while. */
interface Trouble {
  /** As `/readyz` and the log say it; `undefined` while it is not so. */
  readonly reason: (nowNs: TimeNs) => string | undefined;
  readonly over: string;
  isSo: boolean;
}

/** Says what is wrong with the clock and the signed times: in the log when it begins and ends, and to whoever asks. */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  readonly #troubles: readonly Trouble[];

  constructor(options: ClockWatchOptions) {
    this.#options = options;
    const { aggregates, streams } = options;
    this.#troubles = [
      {
        reason: () =>
          this.jumpSeconds === 0
            ? undefined
            : `the wall clock jumped by ${secondsText(this.jumpSeconds)}; that is believed when it has lasted 10 s`,
        over: 'the wall clock and the clock of the service agree again',
        isSo: false,
      },
      {
        reason: () =>
          aggregates.aheadNs > AHEAD_NS_MAX
            ? `aggregates are signed with times ${secondsText(this.aggregatesAheadSeconds)} ahead of the clock`
            : undefined,
        over: 'aggregates are signed with the time of the clock again',
        isSo: false,
      },
      {
        reason: () =>
          streams.aheadNs > AHEAD_NS_MAX
            ? `streams opened earlier carry times ${secondsText(this.streamsAheadSeconds)} ahead of the clock`
            : undefined,
        over: 'all streams carry the time of the clock again',
        isSo: false,
      },
      {
        reason: (nowNs) =>
          aggregates.isHeld(nowNs) ? 'no aggregates are signed: their time mark is not on disk' : undefined,
        over: 'aggregates are signed again',
        isSo: false,
      },
      {
        reason: (nowNs) =>
          streams.isHeld(nowNs)
            ? 'signed stream frames wait: their time mark is not on disk, or the clock is behind the times of all eras'
            : undefined,
        over: 'signed stream frames are sent again',
        isSo: false,
      },
    ];
  }

  /** To be called every few milliseconds. */
  tick(nowNs: TimeNs): void {
    const { logger } = this.#options;
    for (const trouble of this.#troubles) {
      const reason = trouble.reason(nowNs);
      const isSo = reason !== undefined;
      if (isSo === trouble.isSo) continue;
      trouble.isSo = isSo;
      if (isSo) logger.warn(reason);
      else logger.info(trouble.over);
    }
  }

  /** What is wrong now. */
  reasons(): string[] {
    const nowNs = this.#options.clock.nowNs();
    return this.#troubles.flatMap(({ reason }) => reason(nowNs) ?? []);
  }

  /** What another part says of its health, and what is wrong here. */
  addTo(health: Health): Health {
    const reasons = [...(health.ok ? [] : [health.reason]), ...this.reasons()];
    return reasons.length === 0 ? { ok: true } : { ok: false, reason: reasons.join('; ') };
  }

  /** How far the wall clock is ahead of the service's clock while a jump of it is not believed. */
  get jumpSeconds(): number {
    return secondsOf(this.#options.clock.jumpNs ?? 0n);
  }

  get aggregatesAheadSeconds(): number {
    return secondsOf(this.#options.aggregates.aheadNs);
  }

  get streamsAheadSeconds(): number {
    return secondsOf(this.#options.streams.aheadNs);
  }
}

function secondsOf(durationNs: bigint): number {
  return Number(durationNs) / Number(NS_PER_SECOND);
}

function secondsText(seconds: number): string {
  return `${seconds.toFixed(1)} s`;
}
