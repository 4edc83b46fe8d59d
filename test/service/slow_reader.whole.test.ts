import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { parseExactJson, parseFrame } from '../../src/client/index.js';
import { PRICE_MAX } from '../../src/model/price.js';
import { Feed, units } from './feed.js';
import { startTestService, type TestService, TestSocket, TOKEN } from './harness.js';
import type { Aggregate } from './publishing.js';

// Tests that a reader that does not read costs no memory, and that other readers still receive all frames.

interface AggregatesFrame {
  readonly data: Readonly<Record<string, Aggregate>>;
}

const ASSETS = Array.from({ length: 600 }, (_, i) => ({ id: i, symbol: `ASSET${i}` }));

async function metric(service: TestService, name: string): Promise<number> {
  const text = await (await fetch(`${service.adminUrl}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, 'm').exec(text)![1]);
}

test('a slow reader gets the newest when it reads again, one that never does is closed', async (t) => {
  const service = await startTestService({ assets: ASSETS, limits: { slow_consumer: '1s' } });
  t.teardown(() => service.stop());
  const feed = await Feed.open(service);
  // The prices are the longest possible, because several megabytes fit into the kernel before any bytes wait in the service.
  await feed.accept(...ASSETS.map(({ symbol }) => ({ symbol, price: PRICE_MAX })));
  const subscribe = async () => {
    const socket = await TestSocket.open(`${service.socketUrl}/ws?channel=10ms`);
    socket.send({ type: 'subscribe', assets: ASSETS.map(({ id }) => id) });
    await socket.next();
    return socket;
  };
  const [dead, slow, good] = await Promise.all([subscribe(), subscribe(), subscribe()]);
  dead.ws.pause();
  slow.ws.pause();
  await eventually(async () => (await metric(service, 'tickseal_stream_frames_skipped_total')) > 0);
  slow.ws.resume();
  const watched = await TestSocket.open(`${service.socketUrl}/ws`);
  watched.send({ type: 'subscribe', assets: [0] });
  await watched.next();
  await feed.accept({ symbol: 'ASSET0', price: units(2) });
  t.match(parseFrame(await watched.next()), { assets: [{ id: 0, value: units(2) }] });
  const newest = `"${units(2)}"`;
  for (const socket of [slow, good])
    t.ok(await eventually(async () => (await socket.next()).includes(newest)), 'the newest value arrives');

  await eventually(async () => (await metric(service, 'tickseal_stream_slow_consumers_closed_total')) === 1);
  dead.ws.resume();
  t.match(await dead.closed, { code: 1013 });
  t.equal(slow.ws.readyState, slow.ws.OPEN);
});

for (const threads of [1, 2])
  test(`a slow reader of aggregates gets the newest, one that never reads is closed, ${threads} threads`, async (t) => {
    const assets = ASSETS.slice(0, 300).map((asset) => ({ ...asset, clock_period: '20ms' }));
    const service = await startTestService({
      listen: { port: 0, threads },
      assets,
      limits: { slow_consumer: '8s' },
    });
    t.teardown(() => service.stop());
    const symbols = assets.map(({ symbol }) => symbol);
    const feed = await Feed.open(service);
    for (const publisher of [1, 2, 3])
      await feed.accept(...symbols.map((symbol) => ({ symbol, price: PRICE_MAX, publisher })));
    const subscribe = async () => {
      const socket = await TestSocket.open(`${service.socketUrl}/evm/subscribe`);
      socket.send({ type: 'subscribe', data: symbols });
      await socket.next();
      socket.ws.pause();
      return socket;
    };
    const [dead, slow] = [await subscribe(), await subscribe()];
    await eventually(async () => (await metric(service, 'tickseal_stream_frames_skipped_total')) > 1);
    slow.ws.resume();
    const newest = units(2);
    await feed.accept({ symbol: 'ASSET7', price: newest });
    await feed.accept({ symbol: 'ASSET7', price: newest, publisher: 2 });
    t.ok(
      await eventually(async () => {
        const { data } = parseExactJson(await slow.next()) as AggregatesFrame;
        return data['ASSET7']?.price === String(newest);
      }),
    );
    await eventually(async () => (await metric(service, 'tickseal_stream_slow_consumers_closed_total')) > 0);
    dead.ws.resume();
    t.match(await dead.closed, { code: 1013 });
    t.equal(slow.ws.readyState, slow.ws.OPEN);
  });

test('a slow reader of events leaves frames out, and receives the newest prices when it reads again', async (t) => {
  const assets = Array.from({ length: 200 }, (_, i) => ({ id: i + 1, symbol: `A${i}` }));
  const service = await startTestService({ assets });
  t.teardown(() => service.stop());
  const feed = await Feed.open(service);
  const prices = (price: number) => assets.map(({ symbol }) => ({ symbol, price: units(price) }));
  await feed.accept(...prices(1));
  const socket = connect(service.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
  });
  const ids = assets.map(({ id }) => `%23${id}`).join(',');
  socket.write(
    `GET /v1/stream?channel=10ms&assets=${ids} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${TOKEN}\r\n\r\n`,
  );
  await eventually(() => text.includes('event: unsigned'));
  socket.pause();
  await eventually(async () => (await metric(service, 'tickseal_stream_frames_skipped_total')) > 0);
  await feed.accept(...prices(2));
  text = '';
  socket.resume();
  await eventually(() => text.includes(`"v":"${units(2)}"`));
  t.pass('the newest prices');
  socket.end();
  await once(socket, 'close');
});
