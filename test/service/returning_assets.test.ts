import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { createClient, type Tick, UnknownAssetError } from '../../src/client/node.js';
import { THREAD_COUNTS } from '../tier.js';
import { Feed, units } from './feed.js';
import { startTestService, TestSocket, TOKEN } from './harness.js';

// Tests of open connections while reloads remove assets and add them again.

const A = { id: 1, symbol: 'A', clock_period: '50ms' };
const B = { id: 2, symbol: 'B', clock_period: '50ms' };
const STARK = { id: 3, symbol: 'S', clock_period: '50ms', signature_type: 'stark' };
const MANY = { limits: { control_messages_per_second: 1000 } };

/** Reads messages until one contains a text. */
async function read(socket: TestSocket, text: string): Promise<string> {
  for (;;) {
    const message = await socket.next();
    if (message.includes(text)) return message;
  }
}

for (const threads of THREAD_COUNTS) {
  const listen = { port: 0, threads };

  test(`aggregates come back on an open connection, ${threads} threads`, async (t) => {
    const service = await startTestService({ listen, assets: [A], ...MANY });
    t.teardown(() => service.stop());
    const feeds = { evm: await Feed.open(service), stark: await Feed.open(service, { type: 'stark' }) };
    const sockets = {
      evm: await TestSocket.open(`${service.socketUrl}/evm/subscribe`),
      stark: await TestSocket.open(`${service.socketUrl}/stark/subscribe`),
    };
    const publish = (price: number) =>
      Promise.all([
        feeds.evm.accept({ symbol: 'B', price: units(price) }),
        feeds.stark.accept({ symbol: 'S', price: units(price) }),
      ]);
    sockets.evm.send({ type: 'subscribe', data: ['A', 'B'] });
    sockets.stark.send({ type: 'subscribe', data: ['S'] });
    t.match(await read(sockets.evm, '"error"'), 'unknown symbols, or not covered by the token: B');
    t.match(await read(sockets.stark, '"error"'), 'unknown symbols, or not covered by the token: S');
    for (const price of [1, 2]) {
      service.reconfigure({ listen, assets: [A, B, STARK], ...MANY });
      await publish(price);
      await read(sockets.evm, `"price":"${units(price)}"`);
      await read(sockets.stark, `"price":"${units(price)}"`);
      service.reconfigure({ listen, assets: [A], ...MANY });
    }
    sockets.evm.send({ type: 'unsubscribe', data: ['B'] });
    t.equal(
      await read(sockets.evm, '"unsubscribe"'),
      '{"type":"unsubscribe","data":{"subscriptions":["A"]}}',
    );
  });

  test(`a stream is told which of its IDs ended and which came back, ${threads} threads`, async (t) => {
    const service = await startTestService({ listen, assets: [A, B], ...MANY });
    t.teardown(() => service.stop());
    const feed = await Feed.open(service);
    const socket = await TestSocket.open(`${service.socketUrl}/ws`);
    socket.send({ type: 'subscribe', assets: [1, 2], id: 1 });
    await read(socket, '"subscribe"');
    service.reconfigure({ listen, assets: [A], ...MANY });
    t.equal(await read(socket, '"taxonomy"'), '{"type":"taxonomy","ended":[2]}');
    service.reconfigure({ listen, assets: [A, { ...B, id: 5 }], ...MANY });
    t.equal(await read(socket, '"taxonomy"'), '{"type":"taxonomy","returned":[5]}');
    await feed.accept({ symbol: 'B', price: units(7) });
    t.match(await read(socket, '"id":5'), `"v":"${units(7)}"`);
  });

  test(`the client streams an asset that came back, ${threads} threads`, async (t) => {
    const service = await startTestService({ listen, assets: [A, B], ...MANY });
    t.teardown(() => service.stop());
    const feed = await Feed.open(service);
    const client = createClient({ urls: service.url, token: TOKEN, signers: 'unchecked' });
    t.teardown(() => client.close());
    const errors: Error[] = [];
    client.on('error', (error) => errors.push(error));
    const stream = client.stream(['A', 'B']);
    const ticks: Tick[] = [];
    const done = (async () => {
      for await (const tick of stream) ticks.push(tick);
    })();
    const saw = (price: bigint) => eventually(() => ticks.some((tick) => tick.price === price));
    await feed.accept({ symbol: 'B', price: units(1) });
    await saw(units(1));
    service.reconfigure({ listen, assets: [A], ...MANY });
    await eventually(() => stream.subscribed.join() === 'A');
    await eventually(() => errors.length > 0);
    t.same(errors, [new UnknownAssetError(['B'])]);
    service.reconfigure({ listen, assets: [A, { ...B, id: 5 }], ...MANY });
    await eventually(() => stream.subscribed.join() === 'A,B');
    await feed.accept({ symbol: 'B', price: units(2) });
    await saw(units(2));
    await stream.close();
    await done;
  });
}
