import { type Test, test } from 'tap';
import { createCalendars } from '../../../src/model/calendar/calendars.js';
import type { Calendar } from '../../../src/model/calendar/status.js';
import type { MarketStatus } from '../../../src/wire/market_status_codes.js';
import { newYorkS } from './reference.js';

const { calendars } = createCalendars({});
const forex = calendars.get('forex')!;
const metals = calendars.get('metals')!;

/** Checks the status before and after each change, and that no change is missing. A change is `date time status` in New York. */
function checkChanges(t: Test, calendar: Calendar, changes: readonly string[]): void {
  const parsed = changes.map((change) => {
    const [date, time, status] = change.split(' ');
    return { atS: newYorkS(date!, time!), status: Number(status) as MarketStatus, change };
  });
  for (const [place, { atS, status, change }] of parsed.entries()) {
    const previous = parsed[place - 1];
    const from = previous === undefined ? atS - 1 : previous.atS;
    for (const unixS of [from, Math.floor((from + atS) / 2), atS - 1]) {
      const expected = { status: 1 - status, nextStatus: status, changeAtS: atS };
      t.same(calendar.stateAt(unixS), expected, `${unixS} before ${change}`);
    }
    t.equal(calendar.stateAt(atS).status, status, change);
  }
}

test('Good Friday closes metals from Thursday 17:00, and forex not at all', async (t) => {
  checkChanges(t, metals, ['2026-04-01 18:00 1', '2026-04-02 17:00 0', '2026-04-05 18:00 1']);
  checkChanges(t, forex, ['2026-03-29 17:00 1', '2026-04-03 17:00 0']);
});

test('metals halt early on other US holidays, and the configuration corrects it', async (t) => {
  // 19 January 2026 is Martin Luther King Day, a Monday.
  const trading = ['2026-01-18 18:00 1', '2026-01-19 14:30 0', '2026-01-19 18:00 1', '2026-01-20 17:00 0'];
  checkChanges(t, metals, trading);
  checkChanges(t, metals, ['2020-01-19 18:00 1', '2020-01-20 13:00 0', '2020-01-20 18:00 1']);
  checkChanges(t, metals, ['2026-11-26 18:00 1', '2026-11-27 14:45 0', '2026-11-29 18:00 1']);
  const { calendars: changed } = createCalendars({
    metals: { early_closes: { '2026-01-19': '14:15' }, closures: ['2026-01-21'], late_opens: {} },
  });
  const corrected = ['2026-01-18 18:00 1', '2026-01-19 14:15 0', '2026-01-19 18:00 1'];
  checkChanges(t, changed.get('metals')!, [...corrected, '2026-01-20 17:00 0', '2026-01-21 18:00 1']);
});

test('metals around Christmas and New Year', async (t) => {
  checkChanges(t, metals, [
    ...['2025-12-23 18:00 1', '2025-12-24 17:00 0', '2025-12-25 18:00 1', '2025-12-26 17:00 0'],
    ...['2025-12-28 18:00 1', '2025-12-29 17:00 0'],
  ]);
  checkChanges(t, metals, ['2028-12-22 17:00 0', '2028-12-25 18:00 1', '2028-12-26 17:00 0']);
  checkChanges(t, metals, ['2026-12-24 13:45 0', '2026-12-27 18:00 1', '2026-12-28 17:00 0']);
  // A Christmas on Saturday or Sunday, and a New Year's Day on Sunday, are observed; one on Saturday is not.
  for (const year of ['2021', '2027'])
    checkChanges(t, metals, [`${year}-12-23 17:00 0`, `${year}-12-26 18:00 1`]);
  checkChanges(t, metals, ['2022-12-23 17:00 0', '2022-12-26 18:00 1']);
  checkChanges(t, metals, ['2022-12-30 17:00 0', '2023-01-02 18:00 1']);
  checkChanges(t, metals, ['2033-12-30 17:00 0', '2034-01-02 18:00 1']);
  checkChanges(t, metals, ['2021-12-31 17:00 0', '2022-01-02 18:00 1']);
});
