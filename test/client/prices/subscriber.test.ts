import { test } from 'tap';
import { WebSocket } from 'ws';
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
