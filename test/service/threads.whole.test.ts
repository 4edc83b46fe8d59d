import { test } from 'tap';
import { eventually, pause } from '../../scripts/load/wait.js';
import { publishMessage, verifyPayload } from '../../src/client/index.js';
import { planThreads } from '../../src/service/edge/threads/thread_plan.js';
import { ServeProcess, writeConfig } from './child.js';
import {
  get,
  publisherSigner,
  sha256,
  startTestService,
  type TestService,
  TestSocket,
  TOKEN,
} from './harness.js';
import { latestWhen } from './publishing.js';

// Tests that the answers do not depend on the number of threads. Each test runs with one thread and with two threads.

const CONNECTIONS = 16;

function openStreams(service: TestService, query: string, count = CONNECTIONS): Promise<TestSocket[]> {
  return Promise.all(
    Array.from({ length: count }, () => TestSocket.open(`${service.socketUrl}/ws?${query}`)),
  );
}

/** Returns a message with a new price for each symbol. */
function priceMessage(price: bigint, symbols: readonly string[] = ['BTCUSD']): string {
  const timestampNs = BigInt(Date.now()) * 1_000_000n;
  const signer = publisherSigner(1);
  return publishMessage(
    `trace ${price}`,
    symbols.map((symbol) => signer.sign({ symbol, price, timestampNs })),
  );
}

for (const threads of [1, 2]) {
  const listen = { port: 0, threads };

  test(`${threads} threads: all who share a set are sent the same prices, and no two payloads have one time`, async (t) => {
    const service = await startTestService({ listen });
    t.teardown(() => service.stop());
    const streams = await openStreams(service, 'message_type=signed_ecdsa');
    const publisher = await TestSocket.open(`${service.socketUrl}/evm/publish?ack=durable`);
    for (const stream of streams) {
      stream.send({ type: 'subscribe', assets: [1], id: 'x' });
      t.same(await stream.nextJson(), { type: 'subscribe', id: 'x', assets: [1], invalid: [] });
    }
    for (let price = 1n; price <= 3n; price++) {
      publisher.send(priceMessage(price));
      t.match(await publisher.nextJson(), { type: 'ack', accepted: ['BTCUSD'] });
      // Each thread makes a separate frame.
      const frames = [...new Set(await Promise.all(streams.map((stream) => stream.next())))];
      t.ok(frames.length <= threads, `${frames.length} payloads`);
      const times = frames.map((frame) => {
        const { p } = JSON.parse(frame) as { p: string };
        const report = verifyPayload(p, { signers: [service.evmAddress], taxonomyId: 1 });
        t.equal(report.verdict, 'verified');
        t.match(report.payload?.assets, [{ id: 1, value: price }]);
        return report.payload!.timestampNs;
      });
      t.equal(new Set(times).size, frames.length);
    }
    const latest = await get(`${service.url}/v1/prices/latest?assets=BTCUSD`);
    t.equal(latest.status, 200);
    const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
    t.match(metrics, `\ntickseal_connections ${CONNECTIONS + 1}\n`);
    t.match(metrics, `\ntickseal_stream_connections ${CONNECTIONS}\n`);
    t.match(metrics, `\ntickseal_listen_threads ${threads}\n`);
  });

  test(`${threads} threads: limits and tokens hold across them`, async (t) => {
    const service = await startTestService({ listen, limits: { connections_per_token: CONNECTIONS } });
    t.teardown(() => service.stop());
    const streams = await openStreams(service, 'channel=10ms');
    await t.rejects(TestSocket.open(`${service.socketUrl}/ws`), /^429 .*connections_per_token/);
    await t.rejects(TestSocket.open(`${service.socketUrl}/ws`, 'unknown'), /^401/);
    await streams.pop()!.close();
    streams.push(await TestSocket.open(`${service.socketUrl}/ws`));
    await t.rejects(TestSocket.open(`${service.socketUrl}/ws?channel=1h`), /^400 .*channel/);
    service.reconfigure({ listen, limits: { connections_per_token: CONNECTIONS }, tokens: [] });
    for (const stream of streams) t.equal((await stream.closed).code, 4401);
    t.equal((await get(`${service.url}/v1/prices/assets`)).status, 401);
  });

  test(`${threads} threads: of a burst over many connections as many requests pass as a second allows, and no more`, async (t) => {
    const allowed = 40;
    const token = { name: 'few', sha256: sha256(TOKEN), scopes: ['rest'], requests_per_second: allowed };
    const service = await startTestService({ listen, tokens: [token] });
    t.teardown(() => service.stop());
    const startMs = performance.now();
    const statuses = await Promise.all(
      Array.from({ length: 3 * allowed }, async () => {
        const response = await get(`${service.url}/v1/prices/assets`, { Connection: 'close' });
        await response.text();
        return response.status;
      }),
    );
    const passed = statuses.filter((status) => status === 200).length;
    const cameBack = Math.ceil((allowed * (performance.now() - startMs)) / 1_000);
    t.ok(passed >= allowed && passed <= allowed + cameBack, `${passed} passed, ${cameBack} came back`);
    t.equal(statuses.filter((status) => status === 429).length, 3 * allowed - passed);
  });

  test(`${threads} threads: recent, history and reloads are the same from all of them`, async (t) => {
    const service = await startTestService({ listen });
    t.teardown(() => service.stop());
    const publisher = await TestSocket.open(`${service.socketUrl}/evm/publish?ack=durable`);
    publisher.send(priceMessage(7n));
    t.match(await publisher.nextJson(), { type: 'ack', accepted: ['BTCUSD'] });
    await latestWhen(service, 'BTCUSD');
    const second = Math.floor(Date.now() / 1_000);
    while (Math.floor(Date.now() / 1_000) <= second) await pause(10);
    const range = `symbol=BTCUSD&resolution=1&from=${second - 3_600}&to=${second + 60}`;
    for (const path of [
      `/v1/prices/latest?assets=BTCUSD`,
      `/v1/prices/recent?assets=BTCUSD&timestamp=${second}`,
      `/udf/history?${range}`,
    ]) {
      // The test tries again, because another aggregate may be signed between two answers.
      const answers = await eventually(async () => {
        const now = await manyAnswers(service, path);
        return now.length === 1 && now;
      });
      t.match(answers[0], '7');
    }
    service.reconfigure({ listen, assets: [{ id: 5, symbol: 'NEWUSD' }] });
    await eventually(async () => {
      const answers = await manyAnswers(service, '/v1/prices/assets');
      return answers.length === 1 && answers[0]?.includes('NEWUSD') && !answers[0].includes('BTCUSD');
    });
  });
}

test('sockets that are decided on by another thread leave nothing on standard error', async (t) => {
  const file = writeConfig(t.testdir(), { listen: { port: 0, threads: 2 } });
  const running = new ServeProcess(['--config', file]);
  t.teardown(() => running.kill());
  const { socketUrl } = await running.ready();
  for (let i = 0; i < CONNECTIONS; i++) {
    await (await TestSocket.open(`${socketUrl}/ws`)).close();
    await t.rejects(TestSocket.open(`${socketUrl}/ws`, 'unknown'), /^401/);
  }
  running.child.kill('SIGTERM');
  t.same(await running.exited, { code: 0, signal: null });
  t.equal(running.stderr, '');
});

/** Returns the different answers to many new connections. */
async function manyAnswers({ url }: TestService, path: string): Promise<string[]> {
  const answers = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () =>
      (await get(`${url}${path}`, { Connection: 'close' })).text(),
    ),
  );
  return [...new Set(answers)];
}

test('auto serves on the main thread, and leaves the other cores to signatures', async (t) => {
  const plans = [1, 2, 4, 5, 8, 16].map((cores) => planThreads('auto', cores));
  t.same(plans, [
    { listen: 1, crypto: 1 },
    { listen: 1, crypto: 1 },
    { listen: 1, crypto: 3 },
    { listen: 1, crypto: 4 },
    { listen: 1, crypto: 7 },
    { listen: 1, crypto: 15 },
  ]);
  t.same(planThreads(3, 8), { listen: 3, crypto: 4 });
  t.same(planThreads(4, 2), { listen: 4, crypto: 1 });
  t.same(planThreads(1, 8), { listen: 1, crypto: 7 });
});
