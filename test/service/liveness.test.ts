import { test } from 'tap';
import { WebSocket } from 'ws';
import { eventually } from '../../scripts/load/wait.js';
import {
  type Channel,
  type OpenConnection,
  type PriceUpdate,
  Publisher,
  publishMessage,
  Subscriber,
} from '../../src/client/index.js';
import { openBrowserSocket } from '../client/browser_socket.js';
import { units } from './feed.js';
import { publisherSigner, startTestService, TestSocket, TOKEN } from './harness.js';
import { openSilentRelay } from './silent_relay.js';

// Tests of clients whose connections to a running service become silent without a close.

const PRICE_INTERVAL_MS = 20;

const openSocket: OpenConnection = (url, headers) => new WebSocket(url, { headers: { ...headers } });
const PLATFORMS: readonly (readonly [name: string, open: OpenConnection])[] = [
  ['with protocol pings', openSocket],
  ['as in a browser', openBrowserSocket],
];

test('a subscriber notices a silent connection and goes on through a new one', async (t) => {
  const service = await startTestService();
  const relay = await openSilentRelay(service.port);
  const feed = await TestSocket.open(`${service.socketUrl}/evm/publish`);
  let price = 1;
  const prices = setInterval(() => {
    price += 1;
    feed.send(publishMessage('feed', [update(price)]));
  }, PRICE_INTERVAL_MS);
  t.teardown(async () => {
    clearInterval(prices);
    await relay.close();
    await service.stop();
  });
  const url = `ws://127.0.0.1:${relay.port}`;
  const streams = (['100ms', 'real_time'] as const).flatMap((channel) =>
    PLATFORMS.map(([platform, open]) => new WatchedStream(`${channel}, ${platform}`, url, channel, open)),
  );
  t.teardown(() => Promise.all(streams.map(({ subscriber }) => subscriber.close())));
  for (const { subscriber, name } of streams) t.match(await subscriber.subscribe([1]), { ok: true }, name);
  for (const stream of streams) await eventually(() => stream.frames > 2);

  t.equal(relay.silence(), streams.length);
  const silentMs = Date.now();
  await Promise.all(
    streams.map(async (stream) => {
      await eventually(() => stream.events.includes('resubscribed 1'));
      t.comment(`${stream.name}: prices again ${Date.now() - silentMs} ms after the silence began`);
      t.same(stream.events, ['up', 'stale', 'down', 'up', 'resubscribed 1'], stream.name);
      const before = stream.frames;
      await eventually(() => stream.frames > before + 2);
    }),
  );
});

test('a publisher notices a silent connection and goes on through a new one', async (t) => {
  const service = await startTestService();
  const relay = await openSilentRelay(service.port);
  t.teardown(async () => {
    await relay.close();
    await service.stop();
  });
  const url = `ws://127.0.0.1:${relay.port}`;
  const publishers = PLATFORMS.flatMap(([platform, open]) =>
    (['true', undefined] as const).map((ack) => {
      const events: string[] = [];
      const publisher = new Publisher({
        url,
        token: TOKEN,
        signatureType: 'evm',
        ack,
        openSocket: open,
        onStale: () => events.push('stale'),
        onUp: () => events.push('up'),
        onDown: () => events.push('down'),
      });
      return { name: `${platform}, ack ${ack}`, events, publisher };
    }),
  );
  t.teardown(() => Promise.all(publishers.map(({ publisher }) => publisher.close())));
  for (const { publisher } of publishers) await publisher.opened();
  relay.silence();
  const [asking] = publishers;
  const lost = asking!.publisher.publish([update(1)]);
  for (const { name, events } of publishers) {
    await eventually(() => events.length === 4);
    t.same(events, ['up', 'stale', 'down', 'up'], name);
  }
  t.match(await lost, { status: 'failed', reason: /^nothing arrived for / });
  t.match(await asking!.publisher.publish([update(2)]), { status: 'answered', accepted: ['BTCUSD'] });
});

function update(price: number): PriceUpdate {
  const timestampNs = BigInt(Date.now()) * 1_000_000n;
  return publisherSigner(1).sign({ symbol: 'BTCUSD', price: units(price), timestampNs });
}

/** A subscriber that records its events. */
class WatchedStream {
  readonly events: string[] = [];
  readonly subscriber: Subscriber;
  frames = 0;

  constructor(
    readonly name: string,
    url: string,
    channel: Channel,
    open: OpenConnection,
  ) {
    this.subscriber = new Subscriber({
      url,
      token: TOKEN,
      channel,
      openSocket: open,
      onFrame: () => {
        this.frames += 1;
      },
      onStale: () => this.events.push('stale'),
      onDown: ({ final }) => this.events.push(final ? 'down for good' : 'down'),
      onUp: () => this.events.push('up'),
      onResubscribed: (assets) => this.events.push(`resubscribed ${assets}`),
    });
  }
}
