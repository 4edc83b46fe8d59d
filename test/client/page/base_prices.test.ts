import { mock } from 'node:test';
import { test } from 'tap';
import { BasePrices } from '../../../src/client/page/base_prices.js';
import type { TaxonomyAsset } from '../../../src/client/prices/taxonomy.js';

const DAY_MS = 86_400_000;
const PRICE = 110n * 10n ** 18n;
const BTC: TaxonomyAsset = {
  id: 1,
  symbol: 'BTC',
  signatureType: 'evm',
  aggregation: 'median',
  calendar: 'none',
};

function openBases() {
  const service = { base: 100, isDown: false, asked: [] as string[], nowMs: 20_000 * DAY_MS - 1 };
  const bases = new BasePrices({
    get: async (path) => {
      service.asked.push(new URLSearchParams(path.split('?')[1]).get('symbols')!);
      if (service.isDown) throw new Error('overloaded');
      return JSON.stringify({ d: [{ s: 'ok', n: 'BTC', v: { prev_close_price: service.base, lp: 120 } }] });
    },
    nowMs: () => service.nowMs,
  });
  return { bases, service };
}

test('a base is read once a day', async (t) => {
  const { bases, service } = openBases();
  await bases.read([BTC]);
  await bases.read([BTC]);
  t.same(service.asked, ['BTC']);
  t.equal(bases.change(BTC, PRICE), 0.1);
  service.nowMs += 1;
  service.base = 55;
  const reading = bases.read([BTC]);
  t.equal(bases.change(BTC, PRICE), undefined, 'the base of yesterday is none of today');
  await reading;
  t.equal(bases.change(BTC, PRICE), 1);
});

test('an answer of yesterday that comes late is not taken for one of today', async (t) => {
  const { bases, service } = openBases();
  const late = bases.read([BTC]);
  service.nowMs += 1;
  await bases.read([]);
  await late;
  t.equal(bases.change(BTC, PRICE), undefined);
});

test('a base belongs to its asset, whatever its streaming ID', async (t) => {
  const { bases } = openBases();
  await bases.read([BTC]);
  t.equal(bases.change({ ...BTC, id: 2 }, PRICE), 0.1);
  t.equal(bases.change({ ...BTC, symbol: 'ETH' }, PRICE), undefined);
  t.equal(bases.change({ ...BTC, signatureType: 'stark' }, PRICE), undefined);
});

test('a base that could not be read is asked for again after a while', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const { bases, service } = openBases();
  service.isDown = true;
  await bases.read([BTC]);
  service.isDown = false;
  await bases.read([BTC]);
  t.equal(service.asked.length, 1, 'not at once');
  mock.timers.tick(10_000);
  await bases.read([BTC]);
  t.equal(bases.change(BTC, PRICE), 0.1);
});

test('the last prices of all assets are read when they sort a list, 100 in a request', async (t) => {
  const { bases, service } = openBases();
  await bases.read([BTC]);
  t.equal(bases.lastChange(BTC), 0.2);
  t.equal(bases.lastChange({ ...BTC, symbol: 'ETH' }), undefined);
  service.base = 60;
  const others = Array.from({ length: 200 }, (_, i) => ({ ...BTC, id: i + 2, symbol: `A${i}` }));
  await bases.refresh([BTC, ...others]);
  t.same(
    service.asked.slice(1).map((symbols) => symbols.split(',').length),
    [100, 100, 1],
  );
  t.equal(bases.lastChange(BTC), 1);
});
