import fc from 'fast-check';
import { test } from 'tap';
import { createCalendars } from '../../../src/model/calendar/calendars.js';
import type { CalendarDefinition } from '../../../src/model/calendar/definition.js';
import type { Calendar } from '../../../src/model/calendar/status.js';
import type { MarketStatus } from '../../../src/wire/market_status_codes.js';
import { cases } from '../../tier.js';
import { disagreement, newYorkTime, plusDays, wallTime } from './reference.js';

/** The days from 2024 to 2028 on which the metal futures of CME do not trade. */
const METALS_CLOSED = new Set(
  '2024-01-01 2024-03-29 2024-12-25 2025-01-01 2025-04-18 2025-12-25 2026-01-01 2026-04-03 2026-12-25 2027-01-01 2027-03-26 2027-12-24 2028-04-14 2028-12-25'.split(
    ' ',
  ),
);
/** Their 40 halts in these years, by the time of the halt. */
const METALS_HALTS: ReadonlyMap<string, number> = new Map(
  (
    [
      [
        14 * 60 + 30,
        '2024-01-15 2024-02-19 2024-05-27 2024-06-19 2024-07-04 2024-11-28 2025-01-20 2025-02-17 2025-05-26 2025-06-19 2025-07-04 2025-11-27 2026-01-19 2026-02-16 2026-05-25 2026-09-07 2026-11-26 2027-01-18 2027-02-15 2027-05-31 2027-06-18 2027-07-05 2027-11-25 2028-01-17 2028-02-21 2028-05-29 2028-06-19 2028-07-04 2028-11-23',
      ],
      [13 * 60, '2024-09-02 2025-09-01 2026-06-19 2026-07-03 2027-09-06 2028-09-04'],
      [13 * 60 + 45, '2024-11-29 2025-11-28 2026-12-24 2027-11-26 2028-11-24'],
      [14 * 60 + 45, '2026-11-27'],
    ] as const
  ).flatMap(([min, days]) => days.split(' ').map((day) => [day, min] as const)),
);
const YEARS = { min: Date.UTC(2024, 0, 1) / 1000, max: Date.UTC(2028, 11, 20) / 1000 };
const instant = fc.integer(YEARS);
/** The days on which New York's clocks change, and the days around them. */
const nearChangeOfClocks = fc
  .tuple(
    fc.constantFrom('2024-03-10', '2025-11-02', '2026-03-08', '2027-11-07'),
    fc.integer({ min: -172_800, max: 172_800 }),
  )
  .map(([date, offsetS]) => Date.parse(`${date}T07:00Z`) / 1000 + offsetS);

function overTheCounterStatus(breakFromMin: number, breakToMin: number, isMetals: boolean) {
  return (unixS: number): MarketStatus => {
    const { date, minuteOfDay, weekday } = newYorkTime(unixS);
    if (minuteOfDay >= breakFromMin && minuteOfDay < breakToMin) return 0;
    const evening = minuteOfDay >= 17 * 60;
    const tradingDay = evening ? plusDays(date, 1) : date;
    const tradingWeekday = (weekday + (evening ? 1 : 0)) % 7;
    if (tradingWeekday === 0 || tradingWeekday === 6) return 0;
    if (!isMetals) return /-(12-25|01-01)$/.test(tradingDay) ? 0 : 1;
    if (METALS_CLOSED.has(tradingDay)) return 0;
    return !evening && minuteOfDay >= (METALS_HALTS.get(date) ?? 1_440) ? 0 : 1;
  };
}

function checkAgainst(calendar: Calendar, statusAt: (unixS: number) => MarketStatus, numRuns: number): void {
  fc.assert(
    fc.property(fc.oneof(instant, nearChangeOfClocks), (unixS) => {
      const wrong = disagreement(calendar, unixS, statusAt);
      if (wrong !== undefined) throw new Error(wrong);
    }),
    { numRuns: cases(numRuns) },
  );
}

test('forex and metals agree with a walk minute by minute', async () => {
  const { calendars } = createCalendars({});
  checkAgainst(calendars.get('forex')!, overTheCounterStatus(0, 0, false), 150);
  checkAgainst(calendars.get('metals')!, overTheCounterStatus(17 * 60, 18 * 60, true), 300);
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

test('in any zone the next change happens when and as predicted', async () => {
  const zones = [
    'America/New_York',
    'Australia/Lord_Howe',
    'Africa/Cairo',
    'America/Santiago',
    'Europe/Dublin',
  ];
  fc.assert(
    fc.property(
      weekOfSessions,
      fc.constantFrom(...zones),
      fc.integer({ min: 0, max: 86_400 * 400 }),
      (week, zone, offset) => {
        const { calendars } = createCalendars({ own: definitionOf(week, zone) });
        const calendar = calendars.get('own');
        if (calendar === undefined) return true;
        let unixS = Date.UTC(2025, 11, 20) / 1000 + offset;
        for (let step = 0; step < 12; step++) {
          const state = calendar.stateAt(unixS);
          const fresh = createCalendars({ own: definitionOf(week, zone) }).calendars.get('own')!;
          const { changeAtS, status, nextStatus } = state;
          if (!(changeAtS > unixS) || status === nextStatus) return false;
          for (const withinS of [unixS, Math.floor((unixS + changeAtS) / 2), changeAtS - 1]) {
            const { status: s, nextStatus: n, changeAtS: c } = fresh.stateAt(withinS);
            if (s !== status || n !== nextStatus || c !== changeAtS) return false;
          }
          if (fresh.stateAt(changeAtS).status !== nextStatus) return false;
          unixS = changeAtS;
        }
        return true;
      },
    ),
    { numRuns: cases(40) },
  );
});
