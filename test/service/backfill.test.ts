import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import {
  createClient,
  createStreamClient,
  type GapEvent,
  type Tick,
  UnreachableError,
} from '../../src/client/node.js';
import { systemClock } from '../../src/clock/clock.js';
import { FakeClock } from '../clock/fake_clock.js';
import { TcpProxy } from '../tcp_proxy.js';
import { Feed, units } from './feed.js';
import { startTestService, TOKEN } from './harness.js';

const ASSETS = [
  { id: 1, symbol: 'BTCUSD', max_age: '24h', clock_period: '24h' },
  { id: 2, symbol: 'DYDXUSD', signature_type: 'stark', max_age: '24h', clock_period: '24h' },
];
const CUTS_MS = [100, 60_000];

function textOf({ symbol, decimal, backfilled }: Tick): string {
  return `${symbol} ${decimal}${backfilled ? ' backfilled' : ''}`;
}

test('a stream that was cut reads what it missed, marked, in order and none twice', async (t) => {
  const clock = new FakeClock(systemClock());
  const service = await startTestService(t, { assets: ASSETS }, { clock });
  const nowNs = () => clock.advance(1n);
  const feeds = {
    BTCUSD: await Feed.open(service, { nowNs }),
    DYDXUSD: await Feed.open(service, { type: 'stark', nowNs }),
  };
  const options = { token: TOKEN, oracleId: 'servc' };
  const direct = createClient({ ...options, urls: service.url, signers: 'unchecked' });
  t.teardown(() => direct.close());
  /** Publishes a price, and waits until the service has signed it. */
  const sign = async (symbol: keyof typeof feeds, price: number) => {
    await feeds[symbol].accept({ symbol, price: units(price) });
    await eventually(async () => (await direct.latest([symbol]))[symbol]?.decimal === String(price));
  };

  const proxy = await TcpProxy.start(service.port);
  t.teardown(() => proxy.stop());
  const { signers } = await direct.taxonomy();
  const client = createClient({
    ...options,
    urls: `http://127.0.0.1:${proxy.port}`,
    signers: signers.map(({ address }) => address),
  });
  const ticks: Tick[] = [];
  const gaps: GapEvent[] = [];
  const errors: Error[] = [];
  client.on('error', (error) => errors.push(error));
  client.on('gap', (gap) => gaps.push(gap));
  const done = (async () => {
    for await (const tick of client.stream(['BTCUSD', 'DYDXUSD'], { backfill: true })) ticks.push(tick);
  })();
  t.teardown(async () => {
    await client.close();
    await done;
  });
  await sign('BTCUSD', 100);
  await sign('DYDXUSD', 2);
  await eventually(() => new Set(ticks.map(({ symbol }) => symbol)).size === 2);

  for (const [i, cutMs] of CUTS_MS.entries()) {
    const first = 110 + 100 * i;
    const seen = ticks.length;
    proxy.state = 'closed';
    await eventually(() => proxy.connections === 0);
    for (const price of [first, first + 10, first + 20]) {
      clock.advanceMs(Math.ceil(cutMs / 3));
      await sign('BTCUSD', price);
    }
    await sign('DYDXUSD', first);
    proxy.state = 'open';
    await eventually(() => gaps.length === i + 1);
    await sign('BTCUSD', first + 30);
    await eventually(() => ticks.at(-1)?.decimal === String(first + 30));
    const missed = [first, first + 10, first + 20].map((price) => `BTCUSD ${price} backfilled`);
    t.same(
      ticks.slice(seen).map(textOf),
      [...missed, `DYDXUSD ${first} backfilled`, `BTCUSD ${first + 30}`],
      `${cutMs} ms`,
    );
    const { fromNs, toNs } = gaps.at(-1)!;
    t.ok(toNs - fromNs >= BigInt(cutMs) * 1_000_000n);
    for (const { verdict, timestampNs } of ticks.slice(seen, -1)) {
      t.equal(verdict, 'verified');
      t.ok(timestampNs > fromNs && timestampNs < toNs);
    }
  }
  // The client may read the symbols again while the proxy is closed.
  const others = errors.filter((error) => !(error instanceof UnreachableError));
  t.same(others, []);
  const streaming = createStreamClient({ urls: service.url, token: TOKEN, signers: 'unchecked' });
  t.throws(() => streaming.stream(['BTCUSD'], { backfill: true }), TypeError);
});
