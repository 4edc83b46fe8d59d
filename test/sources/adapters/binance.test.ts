import { test } from 'tap';
import { binance } from '../../../src/sources/adapters/binance.js';
import { eventsOf, quotesIn, sessionOf } from './events.js';

test('names of streams are lower case, and a message has at most 50', async (t) => {
  const session = binance.open([]);
  t.same(
    session.subscribe(['BTC/USDT', 'USDC/USDT']).map((text) => JSON.parse(text)),
    [{ method: 'SUBSCRIBE', params: ['btcusdt@bookTicker', 'usdcusdt@bookTicker'], id: 1 }],
  );
  const many = Array.from({ length: 51 }, (_, i) => `C${i}/USDT`);
  t.same(
    session.unsubscribe(many).map((text) => JSON.parse(text).params.length),
    [50, 1],
  );
});

test('quotes of the raw and the combined form; they have no time', async (t) => {
  const session = sessionOf(binance, 'BTC/USDT', 'ETH/USDT');
  const raw =
    '{"u":98494969448,"s":"BTCUSDT","b":"63704.00000000","B":"4.7","a":"63704.01000000","A":"11.3"}';
  t.same(quotesIn(session, raw), [{ symbol: 'BTC/USDT', bid: '63704.00000000', ask: '63704.01000000' }]);
  const combined =
    '{"stream":"ethusdt@bookTicker","data":{"u":1,"s":"ETHUSDT","b":"1","B":"1","a":"2","A":"1"}}';
  t.same(quotesIn(session, combined), [{ symbol: 'ETH/USDT', bid: '1', ask: '2' }]);
});

test('an acknowledgement proves nothing, so none is reported', async (t) => {
  const session = sessionOf(binance, 'BTC/USDT');
  t.same(eventsOf(session, '{"result":null,"id":1}'), []);
  t.same(eventsOf(session, '{"result":["btcusdt@aggTrade"],"id":3}'), []);
});

test('other streams of the same pair are no quotes', async (t) => {
  const session = sessionOf(binance, 'BTC/USDT');
  t.same(
    eventsOf(session, '{"stream":"btcusdt@aggTrade","data":{"e":"aggTrade","s":"BTCUSDT","a":1,"p":"2"}}'),
    [],
  );
});

test('errors in both forms, and the announced end', async (t) => {
  const session = sessionOf(binance, 'BTC/USDT');
  for (const text of [
    '{"code":2,"msg":"Invalid request"}',
    '{"error":{"code":2,"msg":"Invalid request"},"id":1}',
  ])
    t.same(eventsOf(session, text), [{ kind: 'refused', pair: undefined, reason: '"Invalid request"' }]);
  for (const text of [
    '{"e":"serverShutdown","E":1770123456789}',
    '{"stream":"!serverShutdown","data":{"e":"serverShutdown","E":1770123456789}}',
  ])
    t.match(eventsOf(session, text), [{ kind: 'ending' }]);
});

test('a halted pair is not in the list', async (t) => {
  const symbols = [
    { symbol: 'BTCUSDT', status: 'TRADING', baseAsset: 'BTC', quoteAsset: 'USDT' },
    { symbol: 'OLDUSDT', status: 'BREAK', baseAsset: 'OLD', quoteAsset: 'USDT' },
    { symbol: 'ENDUSDT', status: 'CANCEL_ONLY', baseAsset: 'END', quoteAsset: 'USDT' },
  ];
  t.same(binance.readPairs(JSON.stringify({ symbols })), ['BTC/USDT']);
});
