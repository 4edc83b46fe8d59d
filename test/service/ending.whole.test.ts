import { test } from 'tap';
import { publishMessage } from '../../src/client/index.js';
import { RawSocket } from '../fire/raw_socket.js';
import { ServeProcess, writeConfig } from './child.js';
import { Feed, units } from './feed.js';
import { TestSocket } from './harness.js';
import { RawHttp } from './raw_http.js';

// Tests that end the service at a bad moment: while it starts, while workers sign, or while clients do not read.

/** The number of signatures is large enough that the workers receive a batch. */
const ASSETS = Array.from({ length: 200 }, (_, i) => ({ id: i + 1, symbol: `A${i + 1}` }));
const UPDATES_AT_FIRST = 20;

test('a signal just after the line that says ready stops it cleanly, and a second one changes nothing', async (t) => {
  const running = new ServeProcess(['--config', writeConfig(t.testdir())]);
  t.teardown(() => running.kill());
  running.child.stdout.once('data', () => {
    running.child.kill('SIGINT');
    running.child.kill('SIGTERM');
  });
  t.same(await running.exited, { code: 0, signal: null });
  t.equal(running.stderr, '');
});

test('the publishers of a demo end with a service that is killed while they load', async (t) => {
  const dir = t.testdir();
  const first = new ServeProcess(demoArguments(dir));
  t.teardown(() => first.kill());
  await first.line(/wscat/);
  first.child.kill('SIGTERM');
  await first.exited;
  // The process is ready before its publishers are, because the prices come from the store.
  const second = new ServeProcess(demoArguments(dir));
  t.teardown(() => second.kill());
  await second.line(/wscat/);
  second.child.kill('SIGKILL');
  t.match(await second.exited, { signal: 'SIGKILL' }, 'whatever held its output is gone too');
});

test('neither batches at the workers nor clients that stall hold up the end', async (t) => {
  const running = new ServeProcess(['--config', writeConfig(t.testdir(), { assets: ASSETS })]);
  t.teardown(() => running.kill());
  const { url, socketUrl } = await running.ready();
  const port = Number(new URL(url).port);
  const unread = await RawSocket.open(port, '/ws?channel=10ms');
  unread.socket.pause();
  const [unfinished, silent] = [await RawHttp.open(port), await RawHttp.open(port)];
  unfinished.write('GET /v1/taxonomy HTTP/1.1\r\nHost: x\r\n');
  t.teardown(() => [unread.socket, unfinished.socket, silent.socket].map((socket) => socket.destroy()));

  const stream = await TestSocket.open(`${socketUrl}/ws?message_type=signed_ecdsa`);
  stream.send({ type: 'subscribe', assets: ASSETS.map(({ id }) => id) });
  const feeds = await Promise.all([1, 2, 3].map(() => Feed.open({ socketUrl }, { ack: 'durable' })));
  feeds.forEach((feed, i) => {
    const updates = ASSETS.map(({ symbol }) => feed.sign({ symbol, price: units(1), publisher: i + 1 }));
    feed.socket.send(publishMessage('', updates.slice(0, UPDATES_AT_FIRST)));
    feed.socket.send(publishMessage('', updates.slice(UPDATES_AT_FIRST)));
  });
  t.match(await feeds[0]!.socket.nextJson(), { type: 'ack' });
  running.child.kill('SIGTERM');
  t.match(await stream.closed, { code: 1001 });
  t.same(await running.exited, { code: 0, signal: null });
  t.equal(running.stderr, '');
});

function demoArguments(dir: string): string[] {
  return ['--data', dir, '--port', '0', '--admin-port', '0'];
}
