import { test } from 'tap';
import { createCalendars } from '../../../src/model/calendar/calendars.js';
import type { Calendar } from '../../../src/model/calendar/status.js';
import type { MarketStatus } from '../../../src/wire/market_status_codes.js';
import { newYorkS, plusDays, stateText } from './reference.js';

/**
 * NYSE's published holidays, and the closure of 9 January 2025. The dates come from the announcements of December 2022 (for
 * 2024), November 2024 (for 2025) and December 2025 (for 2026 to 2028). None of the dates is computed.
 */
const HOLIDAYS = new Set(
  `2024-01-01 2024-01-15 2024-02-19 2024-03-29 2024-05-27 2024-06-19 2024-07-04 2024-09-02 2024-11-28 2024-12-25
   2025-01-01 2025-01-09 2025-01-20 2025-02-17 2025-04-18 2025-05-26 2025-06-19 2025-07-04 2025-09-01 2025-11-27 2025-12-25
   2026-01-01 2026-01-19 2026-02-16 2026-04-03 2026-05-25 2026-06-19 2026-07-03 2026-09-07 2026-11-26 2026-12-25
   2027-01-01 2027-01-18 2027-02-15 2027-03-26 2027-05-31 2027-06-18 2027-07-05 2027-09-06 2027-11-25 2027-12-24
   2028-01-17 2028-02-21 2028-04-14 2028-05-29 2028-06-19 2028-07-04 2028-09-04 2028-11-23 2028-12-25`.split(
    /\s+/,
  ),
);
/** The days on which NYSE closes at 13:00 as published, with late trading until 17:00. */
const EARLY_CLOSES = new Set(
  `2024-07-03 2024-11-29 2024-12-24
   2025-07-03 2025-11-28 2025-12-24
   2026-11-27 2026-12-24
   2027-11-26
   2028-07-03 2028-11-24`.split(/\s+/),
);
const FIRST_DAY = '2024-01-01';
const DAYS = 1827;

interface Change {
  readonly atS: number;
  readonly status: MarketStatus;
}

/** Returns each change of the five years, and the first change of 2029. */
function expectedChanges(): Change[] {
  const changes: Change[] = [];
  const add = (date: string, time: string, status: MarketStatus): void => {
    changes.push({ atS: newYorkS(date, time), status });
  };
  for (let day = 0; day < DAYS; day++) {
    const date = plusDays(FIRST_DAY, day);
    const weekday = new Date(`${date}T00:00Z`).getUTCDay();
    if (weekday === 0 || weekday === 6 || HOLIDAYS.has(date)) continue;
    const early = EARLY_CLOSES.has(date);
    add(date, '04:00', 2);
    add(date, '09:30', 1);
    add(date, early ? '13:00' : '16:00', 3);
    add(date, early ? '17:00' : '20:00', 0);
  }
  add('2029-01-02', '04:00', 2);
  return changes;
}

function usEquities(): Calendar {
  return createCalendars({}).calendars.get('us_equities')!;
}

test('every day of 2024 to 2028 is as NYSE published it, on both sides of every boundary', async (t) => {
  t.equal(HOLIDAYS.size, 50);
  t.equal(plusDays(FIRST_DAY, DAYS), '2029-01-01');
  const calendar = usEquities();
  const changes = expectedChanges();
  const wrong: string[] = [];
  let place = 0;
  let asked = 0;
  const ask = (unixS: number): void => {
    // Both the changes and the queries are in chronological order.
    while (changes[place]!.atS <= unixS) place++;
    const status = place === 0 ? 0 : changes[place - 1]!.status;
    const next = changes[place]!;
    const expected = `${status} then ${next.status} at ${new Date(next.atS * 1000).toISOString()}`;
    const actual = stateText(calendar, unixS);
    if (actual !== expected)
      wrong.push(`${new Date(unixS * 1000).toISOString()}: ${actual}, not ${expected}`);
    asked++;
  };
  for (let day = 0; day < DAYS; day++) {
    const date = plusDays(FIRST_DAY, day);
    for (const time of ['00:00', '04:00', '09:30', '13:00', '16:00', '17:00', '20:00']) {
      const boundaryS = newYorkS(date, time);
      ask(boundaryS - 1);
      ask(boundaryS);
      ask(boundaryS + 1);
    }
  }
  t.same(wrong.slice(0, 10), []);
  t.equal(asked, DAYS * 21);
});

test('one-off closures and the rules of other years', async (t) => {
  const calendar = usEquities();
  const noon = (date: string): MarketStatus => calendar.stateAt(newYorkS(date, '12:00')).status;
  // A holiday on a Sunday is observed on Monday, and on a Saturday it is observed on Friday. Juneteenth is a holiday since 2022.
  const closed =
    '2007-01-02 2012-10-29 2012-10-30 2018-12-05 2025-01-09 2011-12-26 2017-01-02 2015-07-03 2020-07-03 2021-07-05 2021-12-24 2022-06-20 2033-06-20 2038-04-23 2049-04-16 2100-03-26';
  const open = '2010-12-31 2021-12-31 2021-06-18 2012-10-31 2025-01-08 2025-01-10 2032-12-23';
  for (const date of closed.split(' ')) t.equal(noon(date), 0, date);
  for (const date of open.split(' ')) t.equal(noon(date), 1, date);
  t.equal(calendar.stateAt(Date.UTC(1997, 0, 20, 17) / 1000).status, 1);
  t.equal(calendar.stateAt(Date.UTC(1998, 0, 19, 17) / 1000).status, 0, 'the first Martin Luther King Day');
  t.equal(calendar.stateAt(Date.UTC(2001, 8, 10, 20) / 1000).status, 3);
  t.equal(
    stateText(calendar, Date.UTC(2001, 8, 11, 0) / 1000),
    '0 then 2 at 2001-09-17T08:00:00.000Z',
    'the longest closure so far',
  );
  t.equal(calendar.stateAt(Date.UTC(2004, 5, 11, 16) / 1000).status, 0);
});
