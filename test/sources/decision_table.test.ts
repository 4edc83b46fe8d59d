import { stripVTControlCharacters } from 'node:util';
import { test } from 'tap';
import type { Decision } from '../../src/sources/decision.js';
import { decisionTable } from '../../src/sources/decision_table.js';
import { MarketRoom } from '../../src/sources/market_room.js';
import { after, planOf } from './plans.js';

function decisions(): Decision[] {
  const room = new MarketRoom(
    planOf(`
sources: { kraken: { kind: kraken }, desk: { kind: command, run: [x] } }
assets:
  BTCUSD: { from: [desk BTC], min_sources: 1 }
  ETHUSD: { from: [desk ETH, kraken ETH/USD] }
`),
    () => {},
  );
  room.open({ begin: 1, source: 'desk', symbols: ['BTC', 'ETH'] });
  room.read(1, '{"symbol":"BTC","bid":99.5,"ask":100.25}', after(0));
  room.read(1, '{"symbol":"ETH","price":10}', after(0));
  return room.decisions(after(1_500));
}

test('a table for people, plain and coloured', async (t) => {
  const plain = decisionTable(decisions(), false);
  t.same(
    plain.split('\n').map((line) => line.split(/ {2,}/)),
    [
      ['asset', 'source', 'symbol', 'bid', 'ask', 'age', 'verdict'],
      ['ETHUSD', 'no price: too few sources'],
      ['', 'desk', 'ETH', '10', 'last trade', '1.5 s', 'used'],
      ['', 'kraken', 'ETH/USD', 'no quote'],
      ['BTCUSD', 'price 99.875'],
      ['', 'desk', 'BTC', '99.5', '100.25', '1.5 s', 'used'],
    ],
  );
  const coloured = decisionTable(decisions(), true);
  t.equal(stripVTControlCharacters(coloured), plain);
  t.ok(coloured.includes('\u001b[31m'));
});

test('a table fits its window, and counts the assets that have no place', async (t) => {
  const many = Array.from({ length: 15 }, () => decisions()).flat();
  for (const [columns, rows] of [
    [50, 10],
    [200, 50],
    [20, 4],
    [1, 1],
    [80, 1_000],
  ] as const)
    for (const isColoured of [false, true]) {
      const lines = stripVTControlCharacters(decisionTable(many, isColoured, { columns, rows })).split('\n');
      t.ok(lines.length <= Math.max(rows, 2), `${lines.length} lines in ${rows} rows`);
      for (const line of lines)
        t.ok(line.length <= columns, `${line.length} characters in ${columns} columns`);
    }
  const small = decisionTable(many, false, { columns: 50, rows: 10 }).split('\n');
  t.match(small[1], /^ETHUSD/, 'assets without a price first');
  t.equal(small.at(-1), '28 more');
  t.notMatch(decisionTable(many, false, { columns: 80, rows: 1_000 }), 'more');
});
