import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { test } from 'tap';
import { TcpProxy } from '../../scripts/load/tcp_proxy.js';
import { eventually } from '../../scripts/load/wait.js';
import { createClient, type GapEvent, type Tick } from '../../src/client/node.js';
import { Feed, units } from './feed.js';
import { startTestService, TOKEN } from './harness.js';

test('cuts of 0.1, 1 and 10 s cost a reader with backfill no aggregate', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-cuts-'));
  const service = await startTestService({
    assets: [{ id: 1, symbol: 'BTCUSD', max_age: '600s', clock_period: '600s' }],
    storage: { dir, past: { proofs: '7d', signatures: '90d' } },
  });
  const proxy = await TcpProxy.start(Number(new URL(service.url).port));
  const client = createClient({
    urls: `http://127.0.0.1:${proxy.port}`,
    token: TOKEN,
    signers: 'unchecked',
  });
  t.teardown(async () => {
    await client.close();
    await proxy.stop();
    await service.stop();
    rmSync(dir, { recursive: true });
  });
  const feed = await Feed.open(service);
  let isPublishing = true;
  const published = (async () => {
    for (let price = 100; isPublishing; price += 10) {
      await feed.accept({ symbol: 'BTCUSD', price: units(price) });
      await wait(50);
    }
  })();
  const gaps: GapEvent[] = [];
  client.on('gap', (gap) => gaps.push(gap));
  const ticks: Tick[] = [];
  const stream = client.stream(['BTCUSD'], { backfill: true });
  const done = (async () => {
    for await (const tick of stream) ticks.push(tick);
  })();
  await eventually(() => ticks.length > 3);
  for (const cutMs of [100, 1_000, 10_000]) {
    const told = gaps.length;
    proxy.state = 'closed';
    await wait(cutMs);
    proxy.state = 'open';
    await eventually(() => gaps.length > told);
    t.equal(gaps.length, told + 1, `${cutMs} ms: one gap`);
  }
  isPublishing = false;
  await published;
  await eventually(() => ticks.at(-1)!.timestampNs >= gaps.at(-1)!.toNs);
  await stream.close();
  await done;
  const prices = new Set(ticks.map(({ price }) => price));
  const from = ticks[0]!.timestampNs;
  const to = ticks.at(-1)!.timestampNs;
  let missing = 0;
  let inGaps = 0;
  for await (const { price, timestampNs } of client.range('BTCUSD', { from, to })) {
    if (gaps.some((gap) => timestampNs > gap.fromNs && timestampNs < gap.toNs)) inGaps += 1;
    if (!prices.has(price)) missing += 1;
  }
  t.equal(missing, 0);
  t.ok(inGaps > 100, `${inGaps} aggregates were signed in the gaps`);
  t.ok(ticks.every(({ timestampNs }, i) => i === 0 || timestampNs > ticks[i - 1]!.timestampNs));
});
