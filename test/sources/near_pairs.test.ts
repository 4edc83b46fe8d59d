import { test } from 'tap';
import { nearPairs } from '../../src/sources/near_pairs.js';

const LIST = ['BTC/USD', 'BTC/USDT', 'BTC/EUR', 'ETH/USD', 'DOGE/USD', 'USDT/USD', 'USD/JPY'];

test('near pairs, the nearest first', async (t) => {
  t.same(nearPairs('BTC/UDS', LIST), ['BTC/USD', 'BTC/USDT', 'BTC/EUR']);
  t.same(nearPairs('DOGE/USDT', LIST)[0], 'DOGE/USD');
  t.same(nearPairs('JPY/USD', LIST)[0], 'USD/JPY', 'the other way round');
  t.same(nearPairs('SHIBINU/KRW', LIST), []);
});

test('a name of a list that is much longer is not compared', async (t) => {
  const long = 'A'.repeat(4_000_000);
  t.same(nearPairs('BTC/UDS', [long, 'BTC/USD']), ['BTC/USD']);
});
