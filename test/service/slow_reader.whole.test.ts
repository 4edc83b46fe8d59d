import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { parseFrame } from '../../src/client/index.js';
import { PRICE_MAX } from '../../src/model/price.js';
import { Feed, units } from './feed.js';
import { startTestService, TestSocket } from './harness.js';

// Tests that a reader that does not read costs no memory, and that other readers still receive all frames.

const ASSETS = Array.from({ length: 600 }, (_, i) => ({ id: i, symbol: `ASSET${i}` }));

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
  const metric = async (name: string) => {
    const text = await (await fetch(`${service.adminUrl}/metrics`)).text();
    return Number(new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, 'm').exec(text)![1]);
  };
  const [dead, slow, good] = await Promise.all([subscribe(), subscribe(), subscribe()]);
  dead.ws.pause();
  slow.ws.pause();
  await eventually(async () => (await metric('tickseal_stream_frames_skipped_total')) > 0);
  slow.ws.resume();
  const watched = await TestSocket.open(`${service.socketUrl}/ws`);
  watched.send({ type: 'subscribe', assets: [0] });
  await watched.next();
  await feed.accept({ symbol: 'ASSET0', price: units(2) });
  t.match(parseFrame(await watched.next()), { assets: [{ id: 0, value: units(2) }] });
  const newest = `"${units(2)}"`;
  for (const socket of [slow, good])
    t.ok(await eventually(async () => (await socket.next()).includes(newest)), 'the newest value arrives');

  await eventually(async () => (await metric('tickseal_stream_slow_consumers_closed_total')) === 1);
  dead.ws.resume();
  t.match(await dead.closed, { code: 1013 });
  t.equal(slow.ws.readyState, slow.ws.OPEN);
});
