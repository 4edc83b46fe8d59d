import type { StreamEra, StreamTimes } from '../clock/stream_times.js';
import type { TimeNs } from '../model/time.js';
import type { StreamSession } from './session.js';

/**
 * The era that the session's next group is to be in: the current one, unless the session was sent times that are ahead
 * of the clock. It is in no group now.
 */
export function enterEra(session: StreamSession, times: StreamTimes, nowNs: TimeNs): StreamEra {
  const current = times.current();
  if (session.era === current) return current;
  if (session.era !== undefined && session.lastTimestampNs >= nowNs) return session.era;
  session.era?.leave();
  session.era = current;
  current.enter(session.lastTimestampNs);
  return current;
}

/** Gives up the place of a connection that is gone. */
export function leaveEra(session: StreamSession): void {
  session.era?.leave();
  session.era = undefined;
}

/** Whether the clock is past all that a session of an earlier era was sent. */
export function hasCaughtUp(session: StreamSession, nowNs: TimeNs): boolean {
  return sentUpToNs(session) < nowNs;
}

/** The last `ts` that a session was sent. A member was sent the group's frames since it joined, and none before. */
export function sentUpToNs(session: StreamSession): bigint {
  const { group, lastTimestampNs, joinedTimestampNs } = session;
  if (!group?.members.has(session) || group.lastTimestampNs <= joinedTimestampNs) return lastTimestampNs;
  return group.lastTimestampNs > lastTimestampNs ? group.lastTimestampNs : lastTimestampNs;
}
