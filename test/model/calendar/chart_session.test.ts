import { test } from 'tap';
import { createCalendars } from '../../../src/model/calendar/calendars.js';
import { chartSession } from '../../../src/model/calendar/chart_session.js';
import { calendarDefinition } from '../../../src/model/calendar/definition.js';

test('a calendar has the hours of its market, with breaks, nights, days that differ, and sessions that touch as one', async (t) => {
  const own = (...sessions: object[]) => calendarDefinition.parse({ time_zone: 'Asia/Tokyo', sessions });
  const session = (days: string[], from: string, to: string) => ({ days, from, to, status: 'regular' });
  const { calendars } = createCalendars({
    lunch: own(session(['mon', 'fri'], '12:30', '15:00'), session(['mon', 'fri'], '09:00', '11:30')),
    differ: own(session(['mon'], '09:00', '16:00'), session(['sat', 'sun'], '10:00', '24:00')),
    night: own(session(['sat', 'mon'], '22:00', '05:00')),
  });
  for (const [name, expected] of [
    ['us_equities', '0400-2000:23456'],
    ['forex', '1700-1700:23456'],
    ['metals', '1800-1700:23456'],
    ['lunch', '0900-1130,1230-1500:26'],
    ['differ', '0900-1600:2|1000-0000:17'],
    // A night belongs to the day on which it ends.
    ['night', '2200-0500:13'],
  ] as const)
    t.equal(chartSession(calendars.get(name)!.hours), expected, name);
});
