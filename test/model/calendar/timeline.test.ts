import fc from 'fast-check';
import { test } from 'tap';
import { createCalendars } from '../../../src/model/calendar/calendars.js';
import type { CalendarDefinition } from '../../../src/model/calendar/definition.js';
import type { MarketStatus } from '../../../src/wire/market_status_codes.js';
import { cases } from '../../tier.js';
import { disagreement, newYorkTime, plusDays, wallTime } from './reference.js';

const YEARS = { min: Date.UTC(2024, 0, 1) / 1000, max: Date.UTC(2028, 11, 20) / 1000 };
const instant = fc.integer(YEARS);
/** The days on which New York's clocks change, and the days around them. */
const nearChangeOfClocks = fc
  .tuple(
    fc.constantFrom('2024-03-10', '2025-11-02', '2026-03-08', '2027-11-07'),
    fc.integer({ min: -172_800, max: 172_800 }),
  )
  .map(([date, offsetS]) => Date.parse(`${date}T07:00Z`) / 1000 + offsetS);

function forexStatus(unixS: number): MarketStatus {
  const { date, minuteOfDay, weekday } = newYorkTime(unixS);
  const evening = minuteOfDay >= 17 * 60;
  const tradingDay = evening ? plusDays(date, 1) : date;
  const tradingWeekday = (weekday + (evening ? 1 : 0)) % 7;
  if (tradingWeekday === 0 || tradingWeekday === 6) return 0;
  return /-(12-25|01-01)$/.test(tradingDay) ? 0 : 1;
}

const forex = createCalendars({}).calendars.get('forex')!;

test('forex agrees with a walk minute by minute', async () => {
  fc.assert(
    fc.property(fc.oneof(instant, nearChangeOfClocks), (unixS) => {
      const wrong = disagreement(forex, unixS, forexStatus);
      if (wrong !== undefined) throw new Error(wrong);
    }),
    { numRuns: cases(150) },
  );
});

const WEEKDAY_NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const STATUSES = ['regular', 'extended', 'after_hours'] as const;

/**
 * A week that is cut at random points of its 2016 five-minute steps. Each part is closed or has one of the three statuses.
 */
const weekOfSessions = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 0, max: 2015 }), { minLength: 2, maxLength: 14 }),
    fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 14, maxLength: 14 }),
    fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 12 }),
  )
  .map(([cuts, statuses, closedDays]) => {
    cuts.sort((a, b) => a - b);
    const sessions = cuts.flatMap((cut, place) => {
      const status = statuses[place]!;
      const next = cuts[place + 1] ?? cuts[0]! + 2016;
      // Sessions last at most a day.
      return status === 0 ? [] : [{ fromMin: cut * 5, toMin: Math.min(next * 5, cut * 5 + 1440), status }];
    });
    return { sessions, closures: closedDays.map((day) => plusDays('2026-01-01', day)) };
  })
  .filter(({ sessions }) => sessions.length > 0);

type RandomWeek = typeof weekOfSessions extends fc.Arbitrary<infer T> ? T : never;

function definitionOf({ sessions, closures }: RandomWeek, timeZone: string): CalendarDefinition {
  return {
    time_zone: timeZone,
    sessions: sessions.map(({ fromMin, toMin, status }) => ({
      days: [WEEKDAY_NAMES[Math.floor(fromMin / 1440)]!],
      from: timeText(fromMin % 1440),
      to: timeText(toMin % 1440),
      status: STATUSES[status - 1]!,
    })),
    closures,
    early_closes: {},
    late_opens: {},
  };
}

function timeText(minuteOfDay: number): string {
  const hour = String(Math.floor(minuteOfDay / 60)).padStart(2, '0');
  return `${hour}:${String(minuteOfDay % 60).padStart(2, '0')}`;
}

test("an operator's calendar of any week agrees with a walk minute by minute", async (t) => {
  const offsetS = 9 * 3600;
  let walked = 0;
  fc.assert(
    fc.property(
      weekOfSessions,
      fc.array(fc.integer({ min: 0, max: 86_400 * 420 }), { minLength: 3, maxLength: 3 }),
      (week, offsets) => {
        const { calendars, errors } = createCalendars({ own: definitionOf(week, 'Asia/Tokyo') });
        const calendar = calendars.get('own');
        // The schema refuses only a week that has a single status.
        if (calendar === undefined) return errors.every(({ path }) => path[1] === 'sessions');
        const statusAt = (unixS: number): MarketStatus => {
          const { date, minuteOfDay, weekday } = wallTime(unixS, offsetS);
          const weekMin = weekday * 1440 + minuteOfDay;
          for (const { fromMin, toMin, status } of week.sessions) {
            const inMin = (((weekMin - fromMin) % 10_080) + 10_080) % 10_080;
            if (inMin >= toMin - fromMin) continue;
            const begun = inMin > minuteOfDay ? plusDays(date, -1) : date;
            // A session over midnight is a part of the trading day on which it ends.
            const isOvernight = toMin > (Math.floor(fromMin / 1440) + 1) * 1440;
            const day = isOvernight ? plusDays(begun, 1) : begun;
            return week.closures.includes(day) ? 0 : (status as MarketStatus);
          }
          return 0;
        };
        for (const offset of offsets) {
          const wrong = disagreement(calendar, Date.UTC(2025, 11, 20) / 1000 + offset, statusAt);
          if (wrong !== undefined) throw new Error(wrong);
          walked++;
        }
        return true;
      },
    ),
    { numRuns: cases(100) },
  );
  t.ok(walked > cases(200));
});
