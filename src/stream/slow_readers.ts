import { NS_PER_MS, type TimeNs } from '../model/time.js';
import { CLOSES } from '../wire/close_codes.js';
import type { ReaderSession } from './reader_session.js';

/** Counts since the start of the service. */
export interface SlowReaderCounters {
  /** The number of frames that slow readers did not receive. */
  framesSkipped: number;
  /** The number of connections that were closed with 1013. */
  slowConsumersClosed: number;
}

/** The interval between checks of slow readers. */
const CHECK_INTERVAL_NS = 250n * NS_PER_MS;

/** The connections whose sockets do not send their bytes. A connection without progress for too long is closed. */
export class SlowReaders<S extends ReaderSession<unknown>> {
  readonly #sessions = new Set<S>();
  readonly #withoutProgressNsMax: bigint;
  readonly #counters: SlowReaderCounters;
  #checkedNs = 0n;

  /** @param withoutProgressNsMax `limits.slow_consumer` */
  constructor(withoutProgressNsMax: bigint, counters: SlowReaderCounters) {
    this.#withoutProgressNsMax = withoutProgressNsMax;
    this.#counters = counters;
  }

  /** Adds a connection that missed a frame because its socket still held bytes. */
  add(session: S, nowNs: TimeNs): void {
    session.stalledSinceNs ??= nowNs;
    this.#sessions.add(session);
    this.#counters.framesSkipped++;
  }

  /**
   * Notes that the socket has sent some of its waiting bytes; `bufferedBytes` bytes still wait.
   * @returns true when the connection was slow and now takes frames again
   */
  drained(session: S, bufferedBytes: number, nowNs: TimeNs): boolean {
    if (session.stalledSinceNs === undefined) return false;
    if (bufferedBytes > 0) {
      session.stalledSinceNs = nowNs;
      return false;
    }
    session.stalledSinceNs = undefined;
    return this.#sessions.delete(session);
  }

  /** Removes a closed connection. */
  delete(session: S): void {
    this.#sessions.delete(session);
  }

  /** Closes connections that made no progress. Does nothing within an interval of the last check. @returns true after a check */
  tick(nowNs: TimeNs): boolean {
    if (nowNs - this.#checkedNs < CHECK_INTERVAL_NS && nowNs >= this.#checkedNs) return false;
    this.#checkedNs = nowNs;
    for (const session of [...this.#sessions]) {
      const stalledSinceNs = session.stalledSinceNs!;
      // The clock was stepped back, so the time without progress restarts.
      if (nowNs < stalledSinceNs) session.stalledSinceNs = nowNs;
      else if (nowNs - stalledSinceNs >= this.#withoutProgressNsMax) {
        this.#counters.slowConsumersClosed++;
        session.connection.close(CLOSES.tooSlow.code, CLOSES.tooSlow.reason);
      }
    }
    return true;
  }
}
