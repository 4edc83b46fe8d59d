import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { TcpProxy } from '../../scripts/load/tcp_proxy.js';
import { eventually } from '../../scripts/load/wait.js';
import { createClient, createStreamClient, type GapEvent, type Tick } from '../../src/client/node.js';
import { Feed, units } from './feed.js';
import { startTestService, TOKEN } from './harness.js';

const ASSETS = [
  { id: 1, symbol: 'BTCUSD', max_age: '600s', clock_period: '600s' },
  { id: 2, symbol: 'DYDXUSD', signature_type: 'stark', max_age: '600s', clock_period: '600s' },
];

test('a stream that was cut reads what it missed, marked, in order and none twice', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-backfill-'));
  const service = await startTestService({
    assets: ASSETS,
    storage: { dir, past: { proofs: '7d', signatures: '90d' } },
  });
  const proxy = await TcpProxy.start(Number(new URL(service.url).port));
  const { signers } = await createClient({
    urls: service.url,
    token: TOKEN,
    signers: 'unchecked',
  }).taxonomy();
  const client = createClient({
    urls: `http://127.0.0.1:${proxy.port}`,
    token: TOKEN,
    signers: signers.map(({ address }) => address),
    oracleId: 'servc',
  });
  t.teardown(async () => {
    await client.close();
    await proxy.stop();
    await service.stop();
    rmSync(dir, { recursive: true });
  });
  const errors: Error[] = [];
  client.on('error', (error) => errors.push(error));
  const gaps: GapEvent[] = [];
  client.on('gap', (gap) => gaps.push(gap));
  const ticks: Tick[] = [];
  const stream = client.stream(['BTCUSD', 'DYDXUSD'], { backfill: true });
  const done = (async () => {
    for await (const tick of stream) ticks.push(tick);
  })();
  const evm = await Feed.open(service);
  const stark = await Feed.open(service, { type: 'stark' });
  const direct = createClient({ urls: service.url, token: TOKEN, signers: 'unchecked', oracleId: 'servc' });
  const signed = async (symbol: string, price: number) => {
    await (symbol === 'BTCUSD' ? evm : stark).accept({ symbol, price: units(price) });
    await eventually(async () => (await direct.latest([symbol]))[symbol]?.decimal === String(price));
  };
  await signed('BTCUSD', 100);
  await signed('DYDXUSD', 2);
  await eventually(() => new Set(ticks.map(({ symbol }) => symbol)).size === 2);
  for (const first of [110, 210]) {
    const seen = ticks.length;
    const told = gaps.length;
    proxy.state = 'closed';
    await eventually(() => proxy.connections === 0);
    for (const price of [first, first + 10, first + 20]) await signed('BTCUSD', price);
    await signed('DYDXUSD', first);
    proxy.state = 'open';
    await eventually(() => gaps.length === told + 1);
    await signed('BTCUSD', first + 30);
    await eventually(() => ticks.at(-1)?.decimal === String(first + 30));
    const missed = ticks.slice(seen).filter(({ backfilled }) => backfilled);
    t.same(
      missed.map(({ symbol, decimal }) => `${symbol} ${decimal}`),
      [first, first + 10, first + 20].map((price) => `BTCUSD ${price}`).concat(`DYDXUSD ${first}`),
    );
    t.ok(missed.every(({ verdict, signer }) => verdict === 'verified' && signer.startsWith('0x')));
    const { fromNs, toNs } = gaps.at(-1)!;
    t.ok(missed.every(({ timestampNs }) => timestampNs > fromNs && timestampNs < toNs));
  }
  t.equal(gaps.length, 2);
  for (const { symbol } of ASSETS) {
    const times = ticks.filter((tick) => tick.symbol === symbol).map(({ timestampNs }) => timestampNs);
    t.ok(
      times.every((time, i) => i === 0 || time > times[i - 1]!),
      `${symbol}: in order, none twice`,
    );
  }
  t.same(errors, []);
  await stream.close();
  await done;
  await direct.close();
  const streaming = createStreamClient({ urls: service.url, token: TOKEN, signers: 'unchecked' });
  t.throws(() => streaming.stream(['BTCUSD'], { backfill: true }), TypeError);
});
