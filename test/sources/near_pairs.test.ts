import { test } from 'tap';
import { nearPairs } from '../../src/sources/near_pairs.js';

const LIST = ['BTC/USD', 'BTC/USDT', 'BTC/EUR', 'ETH/USD', 'DOGE/USD', 'USDT/USD', 'USD/JPY'];

test('near pairs, the nearest first', async (t) => {
  t.same(nearPairs('BTC/UDS', LIST), ['BTC/USD', 'BTC/EUR', 'BTC/USDT']);
  t.same(nearPairs('DOGE/USDT', LIST)[0], 'DOGE/USD');
  t.same(nearPairs('JPY/USD', LIST)[0], 'USD/JPY', 'the other way round');
  t.same(nearPairs('SHIBINU/KRW', LIST), []);
});
