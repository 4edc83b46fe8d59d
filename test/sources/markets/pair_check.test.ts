import { test } from 'tap';
import { LocalExchange } from '../../../scripts/load/local_exchange.js';
import { MARKETS } from '../../../src/sources/adapters/built_in.js';
import { checkPairs, listOfMarket } from '../../../src/sources/markets/pair_check.js';

const { signal } = new AbortController();
const listOf = (exchange: LocalExchange) => /pairs_url: "([^"]*)"/.exec(exchange.definition)![1]!;

test('a pair that does not trade is named with near ones, also where the exchange stays silent', async (t) => {
  for (const kind of ['binance', 'bitstamp', 'kraken', 'okx', 'bybit', 'coinbase'] as const) {
    const exchange = await LocalExchange.start(t, kind, ['BTC/USD', 'BTC/EUR', 'DOGE/USD']);
    const report = await checkPairs(
      listOfMarket(MARKETS[kind], listOf(exchange)),
      ['BTC/USD', 'BTC/UDS', 'SHIB/KRW'],
      signal,
    );
    t.same(report.usable, ['BTC/USD'], kind);
    t.same(report.faults, [
      { pair: 'BTC/UDS', reason: 'no such pair trades here; near it are BTC/USD, BTC/EUR' },
      { pair: 'SHIB/KRW', reason: 'no such pair trades here' },
    ]);
  }
});

/** The lists of the exchanges, with a pair that trades and one that does not. */
const LISTS = {
  kraken:
    '{"error":[],"result":{"X":{"wsname":"XBT/USD","status":"online"},"O":{"wsname":"OLD/USD","status":"cancel_only"}}}',
  coinbase: '[{"id":"BTC-USD","status":"online"},{"id":"OLD-USD","status":"delisted"}]',
  binance:
    '{"symbols":[{"status":"TRADING","baseAsset":"BTC","quoteAsset":"USD"},{"status":"BREAK","baseAsset":"OLD","quoteAsset":"USD"}]}',
  okx: '{"data":[{"instId":"BTC-USD","state":"live"},{"instId":"OLD-USD","state":"suspend"}]}',
  bybit:
    '{"retCode":0,"result":{"list":[{"status":"Trading","baseCoin":"BTC","quoteCoin":"USD"},{"status":"PreLaunch","baseCoin":"OLD","quoteCoin":"USD"}]}}',
  bitstamp:
    '[{"name":"BTC/USD","url_symbol":"btcusd","trading":"Enabled"},{"name":"OLD/USD","url_symbol":"oldusd","trading":"Disabled"}]',
} as const;

test('the list of pairs has only those that trade', async (t) => {
  for (const kind of Object.keys(LISTS) as (keyof typeof LISTS)[])
    t.same(MARKETS[kind].readPairs(LISTS[kind]), ['BTC/USD'], kind);
});

test('names that an exchange refuses or means otherwise', async (t) => {
  t.match(MARKETS.kraken.objection!('XDG/USD'), /DOGE\/USD/);
  const exchange = await LocalExchange.start(t, 'kraken', ['BTC/USD']);
  const kraken = await checkPairs(listOfMarket(MARKETS.kraken, listOf(exchange)), ['XBT/USD'], signal);
  t.match(kraken, { usable: [], faults: [{ pair: 'XBT/USD', reason: /BTC\/USD/ }] });
  const coinbase = listOfMarket(MARKETS.coinbase, 'http://127.0.0.1:1/');
  const { faults } = await checkPairs(coinbase, ['BTC/USDC'], signal);
  t.match(faults, [{ reason: /alias/ }]);
});
