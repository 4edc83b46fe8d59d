import type { StreamEra, StreamTimes } from '../clock/stream_times.js';
import type { TimeNs } from '../model/time.js';
import type { StreamSession } from './group.js';

/** Assigns an era to each connection, which determines the `ts` of its frames. */
export class SessionEras {
  readonly #times: StreamTimes;
  #current: StreamEra;
  /** The sessions that have received times but have no subscription, and so no group. */
  readonly #withoutGroup = new Set<StreamSession>();

  constructor(times: StreamTimes) {
    this.#times = times;
    this.#current = times.current();
  }

  /** Detects a step back of the clock, which begins a new era. @returns true when the clock was stepped back since the last call */
  notice(): boolean {
    const before = this.#current;
    this.#current = this.#times.current();
    return this.#current !== before;
  }

  /** Returns whether the session is in an earlier era and the clock has passed all times that the session received. */
  mayMoveOn(session: StreamSession, nowNs: TimeNs): boolean {
    return session.era !== this.#current && sentUpToNs(session) < nowNs;
  }

  /**
   * Returns the era for the session's next group: the current era, unless the session has received times that are ahead of the clock. The
   * session must be in no group.
   */
  enter(session: StreamSession, nowNs: TimeNs): StreamEra {
    this.#withoutGroup.delete(session);
    return this.#moveOn(session, nowNs);
  }

  /** Notes that the session is in no group for now. */
  rest(session: StreamSession): void {
    if (session.era !== undefined) this.#withoutGroup.add(session);
  }

  /** Moves sessions without a group into the current era once the clock has passed the times that they received. */
  moveResting(nowNs: TimeNs): void {
    for (const session of this.#withoutGroup) this.#moveOn(session, nowNs);
  }

  /** Releases the era of a closed connection. */
  leave(session: StreamSession): void {
    this.#withoutGroup.delete(session);
    session.era?.leave();
    session.era = undefined;
  }

  #moveOn(session: StreamSession, nowNs: TimeNs): StreamEra {
    const current = this.#times.current();
    if (session.era === current) return current;
    if (session.era !== undefined && session.lastTimestampNs >= nowNs) return session.era;
    session.era?.leave();
    session.era = current;
    current.enter(session.lastTimestampNs);
    return current;
  }
}

/** Returns the last `ts` that a session received. A member has received all frames of its group since it joined, and none before. */
export function sentUpToNs(session: StreamSession): bigint {
  const { group, lastTimestampNs, joinedTimestampNs } = session;
  if (!group?.members.has(session) || group.lastTimestampNs <= joinedTimestampNs) return lastTimestampNs;
  return group.lastTimestampNs > lastTimestampNs ? group.lastTimestampNs : lastTimestampNs;
}
