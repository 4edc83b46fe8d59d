import { test } from 'tap';
import { WebSocket } from 'ws';
import { eventually } from '../../../scripts/load/wait.js';
import type { Frame } from '../../../src/client/prices/frame.js';
import { Subscriber, type SubscriberOptions } from '../../../src/client/prices/subscriber.js';
import { type ContractServer, startContractServer, TOKEN } from '../contract_server.js';
import { FakeSchedule } from '../fake_schedule.js';

const FRAME = '{"type":"unsigned","tax":1,"ts":1757543080505451011,"a":[{"id":1,"v":"5"}]}';

function subscriberOf(server: ContractServer, options: Partial<SubscriberOptions>): Subscriber {
  return new Subscriber({
    url: server.url,
    token: TOKEN,
    openSocket: (url, headers) => new WebSocket(url, { headers: { ...headers } }),
    onFrame: () => {},
    ...options,
  });
}

test('subscribing is answered with the whole set, or refused as a whole', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  const subscriber = subscriberOf(server, {
    channel: '10ms',
    messageType: 'signed_ecdsa',
    addtlAttrs: ['ms', 'ms'],
  });
  t.same(await subscriber.subscribe([2, 1]), { ok: true, assets: [1, 2], invalid: [] });
  t.same(await subscriber.subscribe([3, 9]), { ok: false, error: 'the service says "unknown assets: 3,9"' });
  t.same(await subscriber.unsubscribe([1, 77]), { ok: true, assets: [2], invalid: [] });
  t.same(subscriber.assets, [2]);
  t.same(server.paths, ['/ws?channel=10ms&message_type=signed_ecdsa&addtl_attrs=ms,ms']);
  await subscriber.close();
  t.match(await subscriber.subscribe([1]), { ok: false });
});

test('frames arrive decoded and as text; what nobody asked for is an error', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  const errors: string[] = [];
  let subscriber: Subscriber | undefined;
  const frame = await new Promise<Frame>((resolve) => {
    subscriber = subscriberOf(server, { onFrame: resolve, onError: (error) => errors.push(error) });
    subscriber.opened().then(() => {
      const texts = ['junk', '{"type":"error","error":"slow down"}', '{"type":"pong"}', FRAME];
      for (const text of texts) server.broadcast(text);
    });
  });
  t.match(frame, { type: 'unsigned', timestampNs: 1757543080505451011n, text: FRAME });
  t.same(errors, ['unreadable frame: junk', 'the service says "slow down"']);
  t.same(server.paths, ['/ws']);
  t.same(subscriber!.assets, [], 'a pong says nothing of what is subscribed');
  await subscriber!.close();
});

test('assets that ended leave the set, and come back into it', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  const changes: unknown[] = [];
  const subscriber = subscriberOf(server, {
    onTaxonomyChange: (ended, returned) => changes.push([ended, returned, subscriber.assets]),
  });
  await subscriber.subscribe([1, 2, 20]);
  const notices = [{}, { ended: [2, 20] }, { ended: [1], returned: [7] }];
  for (const notice of notices) server.broadcast(JSON.stringify({ type: 'taxonomy', ...notice }));
  await eventually(() => changes.length === notices.length);
  t.same(changes, [
    [[], [], [1, 2, 20]],
    [[2, 20], [], [1]],
    [[1], [7], [7]],
  ]);
  await subscriber.close();
});

test('after a loss the set is subscribed again', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  const fake = new FakeSchedule();
  let down: () => void = () => {};
  let resubscribed: (assets: readonly number[]) => void = () => t.fail('nothing was subscribed before');
  const subscriber = subscriberOf(server, {
    schedule: fake.schedule,
    onDown: () => down(),
    onResubscribed: (assets) => resubscribed(assets),
  });
  await subscriber.subscribe([1, 20]);
  const lost = new Promise<void>((resolve) => {
    down = resolve;
  });
  server.onSocket = (socket) => socket.send(FRAME);
  // A request that is still open when the connection is lost is answered too.
  const pending = subscriber.unsubscribe([1]);
  for (const socket of server.sockets) socket.terminate();
  await lost;
  t.match(await pending, { ok: false, error: /closed with 1006/ });
  const again = new Promise<string>((resolve) => {
    server.onSocket = (socket) => socket.once('message', (data) => resolve(String(data)));
  });
  const assets = new Promise<readonly number[]>((resolve) => {
    resubscribed = resolve;
  });
  fake.runOnly();
  t.same(JSON.parse(await again), { type: 'subscribe', assets: [1, 20], ignore_invalid: true, id: 0 });
  t.same(await assets, [1, 20]);
  t.same((await subscriber.subscribe([2])) as object, { ok: true, assets: [1, 2, 20], invalid: [] });
  await subscriber.close();
});

test('a connection is probed after the silence of several frames of its channel', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  for (const [channel, quietMs] of [
    ['50ms', 1_000],
    ['500ms', 1_500],
    ['1s', 2_500],
    ['real_time', 2_000],
  ] as const) {
    const fake = new FakeSchedule();
    const subscriber = subscriberOf(server, { schedule: fake.schedule, channel });
    await subscriber.subscribe([1]);
    t.ok(
      fake.pending.some(({ delayMs }) => delayMs === quietMs),
      channel,
    );
    await subscriber.close();
  }
});
