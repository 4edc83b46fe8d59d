import { test } from 'tap';
import { type CalendarSet, createCalendars } from '../../../src/model/calendar/calendars.js';
import { type CalendarDefinition, calendarDefinition } from '../../../src/model/calendar/definition.js';
import { nearHorizons } from '../../../src/model/calendar/horizon.js';
import type { Calendar } from '../../../src/model/calendar/status.js';
import { newYorkS } from './reference.js';

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri'];
const ALL_DAYS = [...WEEKDAYS, 'sat', 'sun'];

const TOKYO = {
  time_zone: 'Asia/Tokyo',
  sessions: [
    { days: WEEKDAYS, from: '08:00', to: '09:00', status: 'extended' },
    { days: WEEKDAYS, from: '09:00', to: '11:30', status: 'regular' },
    { days: WEEKDAYS, from: '12:30', to: '15:30', status: 'regular' },
    { days: WEEKDAYS, from: '16:30', to: '23:00', status: 'after_hours' },
  ],
  closures: ['2026-01-01', '2026-01-02', '2026-01-03'],
  early_closes: { '2026-03-03': '11:00', '2026-03-04': '14:30' },
};

function create(definitions: Record<string, unknown>): CalendarSet {
  const parsed: Record<string, CalendarDefinition> = {};
  for (const [name, definition] of Object.entries(definitions)) {
    parsed[name] = calendarDefinition.parse(definition);
  }
  return createCalendars(parsed);
}

function one(name: string, definition: unknown): Calendar {
  const { calendars, errors } = create({ [name]: definition });
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  return calendars.get(name)!;
}

/** Returns the changes after an instant, as `YYYY-MM-DDTHH:MM status` of a clock `offsetHours` ahead of UTC. */
function changesFrom(calendar: Calendar, unixS: number, count: number, offsetHours: number): string[] {
  const changes: string[] = [];
  let { nextStatus, changeAtS } = calendar.stateAt(unixS);
  while (changes.length < count) {
    const shown = new Date((changeAtS + offsetHours * 3600) * 1000).toISOString().slice(0, 16);
    changes.push(`${shown} ${nextStatus}`);
    ({ nextStatus, changeAtS } = calendar.stateAt(changeAtS));
  }
  return changes;
}

function errorsOf(name: string, definition: unknown): string[] {
  return create({ [name]: definition }).errors.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

test('hours that change on a day, and late opens', async (t) => {
  const session = (from: string, to: string, since?: string) => ({
    days: WEEKDAYS,
    from,
    to,
    status: 'regular',
    ...(since === undefined ? {} : { since }),
  });
  const tokyo = one('tokyo', {
    time_zone: 'Asia/Tokyo',
    sessions: [
      session('09:00', '11:30'),
      session('12:30', '15:00'),
      session('09:00', '11:30', '2024-11-05'),
      session('12:30', '15:30', '2024-11-05'),
      session('08:00', '16:00', '2030-01-01'),
    ],
    closures: ['2024-11-04'],
    late_opens: { '2024-11-06': '10:00', '2024-11-07': '13:00' },
    early_closes: { '2024-11-07': '14:00' },
  });
  t.same(changesFrom(tokyo, Date.UTC(2024, 9, 31, 22) / 1000, 14, 9), [
    ...['2024-11-01T09:00 1', '2024-11-01T11:30 0', '2024-11-01T12:30 1', '2024-11-01T15:00 0'],
    ...['2024-11-05T09:00 1', '2024-11-05T11:30 0', '2024-11-05T12:30 1', '2024-11-05T15:30 0'],
    ...['2024-11-06T10:00 1', '2024-11-06T11:30 0', '2024-11-06T12:30 1', '2024-11-06T15:30 0'],
    ...['2024-11-07T13:00 1', '2024-11-07T14:00 0'],
  ]);
  const thirties = changesFrom(tokyo, Date.UTC(2029, 11, 31, 22) / 1000, 2, 9);
  t.same(thirties, ['2030-01-01T08:00 1', '2030-01-01T16:00 0']);
  t.same(errorsOf('x', { time_zone: 'UTC', sessions: [session('09:00', '10:00', '2026-01-01')] }), [
    'x.sessions: required: sessions without since, for the time before',
  ]);
  for (const time of ['09:00', '16:00', '08:00'])
    t.equal(errorsOf('us_equities', { late_opens: { '2026-08-12': time } }).length, 1, time);
  t.same(errorsOf('us_equities', { late_opens: { '2026-12-25': '10:00' } }), [
    'us_equities.late_opens.2026-12-25: the market does not open on that day',
  ]);
});

test('the operator is told a month before a calendar ends', async (t) => {
  const own = {
    time_zone: 'UTC',
    sessions: [{ days: ['mon'], from: '09:00', to: '10:00', status: 'regular' }],
  };
  const horizons = (definition: object, day: string) =>
    nearHorizons({ own: calendarDefinition.parse(definition) }, Date.parse(`${day}T12:00:00Z`)).map(
      ({ message }) => message,
    );
  const dated = { ...own, closures: ['2026-12-25', '2026-01-01'], late_opens: { '2026-12-30': '09:30' } };
  t.same(horizons(own, '2040-01-01'), [], 'a calendar without dates');
  t.same(horizons(dated, '2026-11-28'), []);
  t.same(horizons(dated, '2026-11-29'), [
    'its closures and hours are known until 2026-12-30: add those after it',
  ]);
  t.same(horizons(dated, '2026-12-31'), [
    'its closures and hours were known until 2026-12-30: add those after it',
  ]);
  t.same(horizons({ ...dated, known_until: '2027-12-31' }, '2026-12-31'), []);
  t.same(horizons({ closures: ['2026-08-12'] }, '2027-01-01'), [], 'an addition to a built-in calendar');
});

test('additions to the built-in calendars', async (t) => {
  const { calendars, errors } = create({
    us_equities: { closures: ['2026-08-12'], early_closes: { '2026-08-13': '14:00', '2026-12-24': '12:00' } },
    forex: { closures: ['2026-08-12'], early_closes: { '2026-08-18': '20:00', '2026-08-20': '13:00' } },
  });
  t.same(errors, []);
  t.same(changesFrom(calendars.get('us_equities')!, newYorkS('2026-08-11', '21:00'), 5, -4), [
    ...['2026-08-13T04:00 2', '2026-08-13T09:30 1', '2026-08-13T14:00 3', '2026-08-13T18:00 0'],
    '2026-08-14T04:00 2',
  ]);
  const christmas = changesFrom(calendars.get('us_equities')!, newYorkS('2026-12-24', '10:00'), 2, -5);
  t.same(christmas, ['2026-12-24T12:00 3', '2026-12-24T16:00 0'], 'it comes before the built-in one');
  t.same(changesFrom(calendars.get('forex')!, newYorkS('2026-08-10', '12:00'), 7, -4), [
    ...['2026-08-11T17:00 0', '2026-08-12T17:00 1', '2026-08-14T17:00 0', '2026-08-16T17:00 1'],
    ...['2026-08-17T20:00 0', '2026-08-18T17:00 1', '2026-08-20T13:00 0'],
  ]);
  const untouched = createCalendars({}).calendars.get('us_equities')!;
  t.equal(untouched.stateAt(newYorkS('2026-08-12', '12:00')).status, 1, 'the next set is without it');
});

test('invalid definitions are reported with their place', async (t) => {
  const regular = (from: string, to: string, days = WEEKDAYS) => ({ days, from, to, status: 'regular' });
  const utc = (...sessions: unknown[]) => ({ time_zone: 'UTC', sessions });
  t.same(errorsOf('none', TOKYO), ['none: "none" means trading around the clock: choose another name']);
  t.same(errorsOf('forex', { time_zone: 'Asia/Tokyo', sessions: TOKYO.sessions }), [
    'forex.time_zone: this calendar is built in: only closures, early_closes and late_opens can be added to it',
    'forex.sessions: this calendar is built in: only closures, early_closes and late_opens can be added to it',
  ]);
  t.same(errorsOf('tokyo', {}), [
    'tokyo.time_zone: required: an IANA name such as "Asia/Tokyo"',
    'tokyo.sessions: required: without sessions the market would never open',
  ]);
  for (const zone of ['Asia/Tokio', '+09:00', '', '2026-01-01T00:00[Asia/Tokyo]'])
    t.match(errorsOf('tokyo', { ...TOKYO, time_zone: zone }), [/time_zone: no IANA time zone is named "/]);
  t.same(errorsOf('x', utc(regular('09:00', '11:00'), regular('10:59', '12:00', ['tue']))), [
    'x.sessions.1: overlaps sessions[0] on tue',
  ]);
  t.same(
    errorsOf('x', utc(regular('00:00', '01:00', ['mon']), regular('20:00', '00:01', ['sun']))),
    ['x.sessions.0: overlaps sessions[1] on mon'],
    'Sunday night reaches into Monday',
  );
  const [morning, evening] = [regular('00:00', '12:00', ALL_DAYS), regular('12:00', '24:00', ALL_DAYS)];
  const always = 'x.sessions: the status never changes: an asset that trades so has the calendar "none"';
  t.same(errorsOf('x', utc(regular('17:00', '17:00', ALL_DAYS))), [always]);
  t.same(errorsOf('x', utc(morning, evening)), [always]);
  t.same(errorsOf('x', utc(morning, { ...evening, status: 'extended' })), []);
});

test('an early close must fall within the regular hours of a day that opens', async (t) => {
  const errors = (name: string, early_closes: Record<string, string>, rest = {}): string[] =>
    errorsOf(name, { ...rest, early_closes }).map((error) => error.replace(`${name}.early_closes.`, ''));
  const outside = (day: string, time: string): string =>
    `${day}: ${time} is not within the regular hours of that day`;
  for (const time of ['09:30', '09:00', '16:00', '24:00']) {
    t.same(errors('us_equities', { '2026-08-12': time }), [outside('2026-08-12', time)]);
  }
  t.same(errors('us_equities', { '2026-08-12': '09:31' }), []);
  t.same(errors('us_equities', { '2026-08-15': '12:00' }), [outside('2026-08-15', '12:00')], 'a Saturday');
  t.same(errors('us_equities', { '2026-12-25': '12:00' }), [
    '2026-12-25: the market does not open on that day',
  ]);
  t.same(errors('forex', { '2026-08-12': '17:00' }), [outside('2026-08-12', '17:00')]);
  const sessions = [{ days: WEEKDAYS, from: '09:00', to: '16:00', status: 'after_hours' }];
  const late = errors('late', { '2026-08-12': '12:00' }, { time_zone: 'UTC', sessions });
  t.same(late, [outside('2026-08-12', '12:00')], 'a calendar without regular hours');
});
