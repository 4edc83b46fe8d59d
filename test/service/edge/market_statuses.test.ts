import fc from 'fast-check';
import { test } from 'tap';
import { createCalendars } from '../../../src/model/calendar/calendars.js';
import { MarketStatuses } from '../../../src/service/edge/market_statuses.js';
import { NO_SCHEDULE } from '../../../src/wire/market_status_codes.js';
import { sampleAsset } from '../../model/sample.js';

const assets = ['none', 'us_equities', 'forex', 'metals', 'a calendar that is gone'].map((calendar, index) =>
  sampleAsset({ index, symbol: `A${index}`, calendar }),
);
const { calendars } = createCalendars({});

const MONDAY_S = Date.UTC(2026, 2, 2) / 1000;
const HOUR_S = 3600;

test('each asset has the status of its calendar, and around the clock none', async (t) => {
  const markets = new MarketStatuses(assets, calendars);
  t.same([...markets.statusesAt(MONDAY_S + 15 * HOUR_S)], [NO_SCHEDULE, 1, 1, 1, NO_SCHEDULE]);
  t.same([...markets.statusesAt(MONDAY_S + 10 * HOUR_S)], [NO_SCHEDULE, 2, 1, 1, NO_SCHEDULE]);
  t.same([...markets.statusesAt(MONDAY_S + 22 * HOUR_S)], [NO_SCHEDULE, 3, 1, 0, NO_SCHEDULE]);
  t.same([...markets.statusesAt(MONDAY_S - 36 * HOUR_S)], [NO_SCHEDULE, 0, 0, 0, NO_SCHEDULE]);
  t.equal(markets.calendarOf(assets[0]!), undefined);
  t.equal(markets.calendarOf(assets[1]!)?.name, 'us_equities');
});

test('in whatever order it is asked, it says what the calendars say', async () => {
  const second = fc.integer({ min: MONDAY_S - 20 * 24 * HOUR_S, max: MONDAY_S + 20 * 24 * HOUR_S });
  const step = fc.oneof(
    second,
    fc.integer({ min: -5, max: 5 }).map((offset) => MONDAY_S + 14.5 * HOUR_S + offset),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (seconds) => {
      const markets = new MarketStatuses(assets, calendars);
      return seconds.every((unixS) => {
        const statuses = markets.statusesAt(unixS);
        return assets.every(
          ({ calendar }, i) =>
            statuses[i] === (calendars.get(calendar)?.stateAt(unixS).status ?? NO_SCHEDULE),
        );
      });
    }),
  );
});
