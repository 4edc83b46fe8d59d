import { stripVTControlCharacters } from 'node:util';
import { test } from 'tap';
import { decisionTable } from '../../src/sources/decision_table.js';
import { MarketRoom } from '../../src/sources/market_room.js';
import { after, planOf } from './plans.js';

test('a table for people, plain and coloured, fits its window', async (t) => {
  const text = `
sources: { kraken: { kind: kraken }, desk: { kind: command, run: [x] } }
assets:
  BTCUSD: { from: [desk BTC], min_sources: 1 }
  ETHUSD: { from: [desk ETH, kraken ETH/USD] }
`;
  const room = new MarketRoom(planOf(text), () => {});
  room.open({ begin: 1, source: 'desk', symbols: ['BTC', 'ETH'] });
  room.read(1, '{"symbol":"BTC","bid":99.5,"ask":100.25}', after(0));
  room.read(1, '{"symbol":"ETH","price":10}', after(0));
  const decisions = room.decisions(after(1_500));
  const plain = decisionTable(decisions, false);
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
  t.equal(stripVTControlCharacters(decisionTable(decisions, true)), plain);
  const [, first, last] = decisionTable(decisions, false, { columns: 50, rows: 3 }).split('\n');
  t.match(
    [first, last],
    [/^ETHUSD/, '1 more'],
    'a table that fits its window has assets without a price first',
  );
});
