import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { Feed, units } from './feed.js';
import { startTestService, type TestService, TOKEN } from './harness.js';

async function hasSkipped({ adminUrl }: TestService): Promise<boolean> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return Number(/^tickseal_stream_frames_skipped_total (\d+)/m.exec(text)?.[1]) > 0;
}

test('a slow reader leaves frames out, and receives the newest prices when it reads again', async (t) => {
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
  await eventually(() => hasSkipped(service));
  await feed.accept(...prices(2));
  text = '';
  socket.resume();
  await eventually(() => text.includes(`"v":"${units(2)}"`));
  t.pass('the newest prices');
  socket.end();
  await once(socket, 'close');
});
