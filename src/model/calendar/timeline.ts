import { strict as assert } from 'node:assert';
import { Temporal } from 'temporal-polyfill';
import { MARKET_CLOSED, type MarketStatus } from '../../wire/market_status_codes.js';
import { MINUTES_PER_DAY, sessionsOn, type TradingSchedule } from './schedule.js';
import type { Calendar, MarketState } from './status.js';

/** A session in UNIX seconds. The session includes `startS` and excludes `endS`. */
interface OpenInterval {
  readonly startS: number;
  readonly endS: number;
  readonly status: MarketStatus;
}

/** The largest number of cached trading days. The search for a change of status reads yesterday and a few more days. */
const DAYS_CACHED_MAX = 32;

/** The largest number of weeks without a change of status. Each of the operator's closures may add one week. */
const QUIET_WEEKS_MAX = 4;

/** Creates a calendar from a schedule. The status of the schedule must change within each week. */
export function createCalendar(name: string, schedule: TradingSchedule): Calendar {
  const days = new Map<string, readonly OpenInterval[]>();
  const daysAheadMax = 7 * (QUIET_WEEKS_MAX + schedule.closures.size);
  let lastFromS = Number.POSITIVE_INFINITY;
  let last: MarketState = { status: MARKET_CLOSED, nextStatus: MARKET_CLOSED, changeAtS: 0 };

  return {
    name,
    hours: schedule,
    stateAt(unixS) {
      if (unixS >= lastFromS && unixS < last.changeAtS) return last;
      const found = findState(unixS);
      lastFromS = found.fromS;
      last = found.state;
      return last;
    },
  };

  /** Finds the state at `unixS`, and an instant since which the state has not changed. */
  function findState(unixS: number): { fromS: number; state: MarketState } {
    // The session at `unixS` may belong to yesterday's trading day.
    let date = dateAt(unixS, schedule.timeZone).subtract({ days: 1 });
    let status: MarketStatus = MARKET_CLOSED;
    let fromS = unixS;
    let untilS = 0;
    for (let ahead = 0; ahead <= daysAheadMax; ahead++, date = date.add({ days: 1 })) {
      for (const session of intervalsOn(date)) {
        if (session.endS <= unixS) {
          // The status has not changed since the end of the last session.
          fromS = session.endS;
        } else if (session.startS <= unixS) {
          status = session.status;
          fromS = session.startS;
          untilS = session.endS;
        } else if (status === MARKET_CLOSED) {
          const state = { status, nextStatus: session.status, changeAtS: session.startS };
          return { fromS, state };
        } else if (session.startS > untilS) {
          return { fromS, state: { status, nextStatus: MARKET_CLOSED, changeAtS: untilS } };
        } else if (session.status !== status) {
          return { fromS, state: { status, nextStatus: session.status, changeAtS: untilS } };
        } else {
          untilS = session.endS;
        }
      }
    }
    assert.fail(`calendar ${name} does not change for ${daysAheadMax} days`);
  }

  function intervalsOn(date: Temporal.PlainDate): readonly OpenInterval[] {
    const key = date.toString();
    let intervals = days.get(key);
    if (intervals === undefined) {
      if (days.size >= DAYS_CACHED_MAX) days.clear();
      intervals = sessionsOn(schedule, date)
        .map(({ fromMin, toMin, status }) => ({
          startS: instantOf(date, fromMin, schedule.timeZone),
          endS: instantOf(date, toMin, schedule.timeZone),
          status,
        }))
        // A change to summer time may skip a whole session.
        .filter(({ startS, endS }) => startS < endS);
      days.set(key, intervals);
    }
    return intervals;
  }
}

function dateAt(unixS: number, timeZone: string): Temporal.PlainDate {
  const instant = Temporal.Instant.fromEpochMilliseconds(Math.floor(unixS) * 1000);
  return instant.toZonedDateTimeISO(timeZone).toPlainDate();
}

/**
 * Returns the UNIX second of the first instant at which the clocks of the zone show this time of day or a later time. If the clocks
 * skip the time, the result is the instant of the jump. If the clocks show the time twice, the result is the first of the two
 * instants.
 */
function instantOf(date: Temporal.PlainDate, minutes: number, timeZone: string): number {
  const dayOffset = Math.floor(minutes / MINUTES_PER_DAY);
  const minuteOfDay = minutes - dayOffset * MINUTES_PER_DAY;
  const wanted = date
    .add({ days: dayOffset })
    .toPlainDateTime({ hour: Math.floor(minuteOfDay / 60), minute: minuteOfDay % 60 });
  const shown = wanted.toZonedDateTime(timeZone);
  if (shown.toPlainDateTime().equals(wanted)) return shown.epochMilliseconds / 1000;
  // If the time is the first skipped time, `shown` is the jump itself. "previous" excludes the instant itself, so 1 ns is added.
  const jump = shown.add({ nanoseconds: 1 }).getTimeZoneTransition('previous');
  assert(jump !== null, 'clocks that skipped a time have jumped');
  return jump.epochMilliseconds / 1000;
}
