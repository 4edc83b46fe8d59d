import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { parse } from 'yaml';
import { z } from 'zod';
import { createCalendars } from '../../../src/model/calendar/calendars.js';
import { calendarDefinition } from '../../../src/model/calendar/definition.js';
import type { Calendar } from '../../../src/model/calendar/status.js';
import { MARKET_REGULAR } from '../../../src/wire/market_status_codes.js';
import { ROOT } from '../../pages.js';

// Comparisons of calendars with those of exchange_calendars and pandas_market_calendars, minute by minute. TICKSEAL_CALENDAR_PYTHON names a
// Python with both packages; `scripts/python_packages.sh calendars` makes one.

const PYTHON = process.env['TICKSEAL_CALENDAR_PYTHON'] ?? 'python3';
const IMPORTS = 'import exchange_calendars, pandas_market_calendars';
const isMissing = spawnSync(PYTHON, ['-c', IMPORTS], { stdio: 'ignore' }).status !== 0;
if (isMissing && process.env['CI'] === 'true')
  throw new Error('no Python with exchange_calendars and pandas_market_calendars');
const skip = isMissing && 'Python or its calendars are not here';

type Span = readonly [number, number];

interface Asked {
  readonly package: 'exchange_calendars' | 'pandas_market_calendars';
  readonly code: string;
  readonly first: string;
  readonly last: string;
}

function judged(asked: readonly Asked[]): Span[][] {
  const { stdout, stderr, status } = spawnSync(PYTHON, [join(ROOT, 'test/model/calendar/python/judge.py')], {
    input: JSON.stringify(asked),
    maxBuffer: 64 * 1024 ** 2,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Span[][];
}

/** Returns the regular hours of a calendar between two instants. */
function regularHours(calendar: Calendar, fromS: number, toS: number): Span[] {
  const spans: Span[] = [];
  for (let atS = fromS; atS < toS; ) {
    const { status, changeAtS } = calendar.stateAt(atS);
    if (status === MARKET_REGULAR) spans.push([atS, Math.min(changeAtS, toS)]);
    atS = changeAtS;
  }
  return spans;
}

/** Counts the minutes that are in one list of spans only. */
function differingMinutes(one: readonly Span[], other: readonly Span[]): number {
  const minutes = (spans: readonly Span[]) => {
    const all = new Set<number>();
    for (const [fromS, toS] of spans) for (let at = fromS; at < toS; at += 60) all.add(at);
    return all;
  };
  const [left, right] = [minutes(one), minutes(other)];
  let count = 0;
  for (const minute of left) if (!right.has(minute)) count++;
  for (const minute of right) if (!left.has(minute)) count++;
  return count;
}

/** Compares a calendar over the whole days from `first` to `last`, with a day at both ends left out because of the zones. */
function compared(calendar: Calendar, theirs: readonly Span[], first: string, last: string): number {
  const [fromS, toS] = [
    Date.parse(`${first}T00:00Z`) / 1000 + 86_400,
    Date.parse(`${last}T00:00Z`) / 1000 - 86_400,
  ];
  const within = theirs
    .filter(([start, end]) => end > fromS && start < toS)
    .map(([start, end]): Span => [Math.max(start, fromS), Math.min(end, toS)]);
  return differingMinutes(regularHours(calendar, fromS, toS), within);
}

test('NYSE and metals are as other calendars know them, minute by minute from 2024 to 2030', {
  skip,
}, async (t) => {
  const years = { first: '2024-01-01', last: '2030-12-31' };
  const [nyse, metals] = judged([
    { package: 'exchange_calendars', code: 'XNYS', ...years },
    { package: 'pandas_market_calendars', code: 'CMEGlobex_GC', ...years },
  ]);
  const { calendars } = createCalendars({});
  for (const [name, theirs] of [
    ['us_equities', nyse!],
    ['metals', metals!],
  ] as const) {
    t.ok(theirs.length > 1_700);
    t.equal(compared(calendars.get(name)!, theirs, years.first, years.last), 0, name);
  }
});

test('the examples of twelve exchanges are as exchange_calendars knows them, minute by minute', {
  skip,
}, async (t) => {
  const text = readFileSync(join(ROOT, 'scripts/deploy/calendars.yaml'), 'utf8');
  const definitions = z.record(z.string(), calendarDefinition).parse(parse(text).calendars);
  const { calendars, errors } = createCalendars(definitions);
  t.same(errors, []);
  const names = Object.keys(definitions);
  t.equal(
    names.join(' '),
    'london xetra paris swiss tokyo hong_kong shanghai taiwan sydney toronto korea sao_paulo',
  );
  const codes = 'XLON XFRA XPAR XSWX XTKS XHKG XSHG XTAI XASX XTSE XKRX BVMF'.split(' ');
  const asked = names.map((name, i) => ({
    package: 'exchange_calendars' as const,
    code: codes[i]!,
    first: '2024-01-01',
    last: definitions[name]!.known_until!,
  }));
  for (const [i, theirs] of judged(asked).entries()) {
    const name = names[i]!;
    t.ok(theirs.length > 700, name);
    t.equal(compared(calendars.get(name)!, theirs, '2024-01-01', asked[i]!.last), 0, name);
  }
});
