import { test } from 'tap';
import { LocalExchange } from '../../scripts/load/local_exchange.js';
import type { FrameSink } from '../../src/markets/market_feed.js';
import { openFeed } from '../../src/markets/open_feed.js';
import { MARKETS } from '../../src/sources/adapters/built_in.js';
import { planOf } from '../sources/plans.js';
import { ManualTime, until } from './manual_time.js';

test('a pair that halts during the run is not asked for over REST, which still shows its last prices', async (t) => {
  const pairs = ['BTC/USDT', 'ETH/USDT'];
  const exchange = await LocalExchange.start(t, 'binance', pairs);
  const time = new ManualTime();
  const closed = new AbortController();
  const warnings: string[] = [];
  let connection = 0;
  const sink: FrameSink = {
    begin: (symbols) => ({ connection: ++connection, session: MARKETS.binance.open(symbols) }),
    end: () => {},
    read: () => [],
    warn: (text) => warnings.push(text),
  };
  const plan = planOf(
    `sources: { a: ${exchange.definition} }\nassets: { B: { from: [a BTC/USDT], min_sources: 1 } }`,
  );
  const { feed } = await openFeed(
    {
      name: 'a',
      definition: plan.sources.get('a')!,
      symbols: new Map(pairs.map((pair) => [pair, 60_000])),
    },
    sink,
    {
      clock: time,
      schedule: time.schedule,
      random: () => 0.5,
      env: {},
      folder: '.',
      signal: closed.signal,
    },
  );
  t.teardown(() => {
    closed.abort();
    feed!.close();
  });
  for (const pair of pairs) exchange.show(pair, '1', '2', 0);
  feed!.open();
  await until(() => exchange.isConnected, 'the connection');
  /** Advances the time until both pairs were requested over REST, or the condition is true. */
  const passing = (isOver: () => boolean, subject: string) =>
    until(() => {
      exchange.heartbeat();
      time.advance(500);
      return isOver();
    }, subject);
  const asked = (name: string) => exchange.askedTops.filter((asked) => asked === name).length;
  await passing(() => asked('BTCUSDT') > 0 && asked('ETHUSDT') > 0, 'requests for both');
  pairs.splice(0, 1);
  const isKnown = () => warnings.some((text) => text.startsWith('BTC/USDT: no such pair trades here'));
  await passing(isKnown, 'the list that lacks one');
  // A request may be in progress.
  time.advance(2_000);
  const before = { halted: asked('BTCUSDT'), quiet: asked('ETHUSDT') };
  await passing(() => asked('ETHUSDT') > before.quiet + 2, 'more requests for the other pair');
  t.ok(asked('BTCUSDT') <= before.halted + 1, 'no more for the halted pair');
});
