import type { StreamEra, StreamTimes } from '../clock/stream_times.js';
import type { TimeNs } from '../model/time.js';
import type { StreamSession } from './group.js';

/** Which era the `ts` of each connection come from. */
export class SessionEras {
  readonly #times: StreamTimes;
  #current: StreamEra;
  /** Those that were sent times and are subscribed to nothing now, so that they are in no group. */
  readonly #withoutGroup = new Set<StreamSession>();

  constructor(times: StreamTimes) {
    this.#times = times;
    this.#current = times.current();
  }

  /** @returns whether the clock was stepped back since the last call: then there is another era */
  notice(): boolean {
    const before = this.#current;
    this.#current = this.#times.current();
    return this.#current !== before;
  }

  /** Whether the session is in an earlier era and the clock is past all that it was sent. */
  mayMoveOn(session: StreamSession, nowNs: TimeNs): boolean {
    return session.era !== this.#current && sentUpToNs(session) < nowNs;
  }

  /**
   * The era that the session's next group is to be in: the current one, unless the session was sent times that are ahead
   * of the clock. It is in no group now.
   */
  enter(session: StreamSession, nowNs: TimeNs): StreamEra {
    this.#withoutGroup.delete(session);
    return this.#moveOn(session, nowNs);
  }

  /** The session is in no group for now. */
  rest(session: StreamSession): void {
    if (session.era !== undefined) this.#withoutGroup.add(session);
  }

  /** Takes those that are in no group into the current era, as soon as the clock is past what they were sent. */
  moveResting(nowNs: TimeNs): void {
    for (const session of this.#withoutGroup) this.#moveOn(session, nowNs);
  }

  /** Gives up the place of a connection that is gone. */
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

/** The last `ts` that a session was sent. A member was sent the group's frames since it joined, and none before. */
export function sentUpToNs(session: StreamSession): bigint {
  const { group, lastTimestampNs, joinedTimestampNs } = session;
  if (!group?.members.has(session) || group.lastTimestampNs <= joinedTimestampNs) return lastTimestampNs;
  return group.lastTimestampNs > lastTimestampNs ? group.lastTimestampNs : lastTimestampNs;
}
