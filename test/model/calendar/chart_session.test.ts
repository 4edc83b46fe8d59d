import { test } from 'tap';
import { createCalendars } from '../../../src/model/calendar/calendars.js';
import { chartSession } from '../../../src/model/calendar/chart_session.js';
import type { CalendarDefinition } from '../../../src/model/calendar/definition.js';

const REGULAR = 'regular';

function sessionOf(definition: Partial<CalendarDefinition>): string {
  const own = { closures: [], early_closes: {}, late_opens: {}, time_zone: 'Asia/Tokyo', ...definition };
  const { calendars, errors } = createCalendars({ own });
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  return chartSession(calendars.get('own')!.hours);
}

test('built-in calendars have the hours of their markets, with sessions that touch as one', async (t) => {
  const { calendars } = createCalendars({});
  const session = (name: string) => chartSession(calendars.get(name)!.hours);
  t.equal(session('us_equities'), '0400-2000:23456');
  t.equal(session('forex'), '1700-1700:23456', 'from Sunday evening');
  t.equal(session('metals'), '1800-1700:23456');
  t.equal(calendars.get('forex')!.hours.timeZone, 'America/New_York');
});

test('own calendars: breaks, days that differ, and nights', async (t) => {
  const lunch = [
    { days: ['mon', 'fri'], from: '12:30', to: '15:00', status: REGULAR },
    { days: ['mon', 'fri'], from: '09:00', to: '11:30', status: REGULAR },
  ] as const;
  t.equal(sessionOf({ sessions: structuredClone(lunch) as never }), '0900-1130,1230-1500:26');
  const differ = [
    { days: ['mon'], from: '09:00', to: '16:00', status: REGULAR },
    { days: ['sat', 'sun'], from: '10:00', to: '24:00', status: 'extended' },
  ];
  t.equal(sessionOf({ sessions: differ as never }), '0900-1600:2|1000-0000:17');
  const night = [{ days: ['sat', 'mon'], from: '22:00', to: '05:00', status: REGULAR }];
  t.equal(sessionOf({ sessions: night as never }), '2200-0500:13', 'of the day on which it ends');
});
