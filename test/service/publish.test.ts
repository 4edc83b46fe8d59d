import { once } from 'node:events';
import { test } from 'tap';
import { type PriceUpdate, writeExactJson } from '../../src/client/index.js';
import type { SignatureType } from '../../src/model/asset.js';
import { FakeClock } from '../clock/fake_clock.js';
import { distinctNowNs } from './feed.js';
import { publisherSigner, startTestService, type TestSocket } from './harness.js';
import { altered, latestText, latestWhen, openPublisher, publish, refusalOf, UNIT } from './publishing.js';

// Tests of publisher sockets on a running service. test/prices tests each check of an update, and test/fire the tokens.

const MESSAGE_BYTES = 8 * 1024;

const messageOf = (traceId: unknown, data: unknown) =>
  writeExactJson({ type: 'signed_prices', trace_id: traceId, data });

test('an update is refused with its reason, or served as it came', async (t) => {
  const clock = new FakeClock();
  const service = await startTestService({}, { clock });
  t.teardown(() => service.stop());
  const sockets = { evm: await openPublisher(service), stark: await openPublisher(service, 'stark') };
  let signed = 0n;
  /** Signs an update with a new second and a new price, so that neither time nor price can be the reason for a refusal. */
  const sign = (type: SignatureType, metadata?: object): PriceUpdate => {
    clock.advanceMs(1_000);
    signed += UNIT;
    const symbol = type === 'evm' ? 'BTCUSD' : 'DYDXUSD';
    return publisherSigner(1, type).sign({ symbol, price: signed, timestampNs: clock.nowNs(), metadata });
  };
  const refusals: readonly [type: SignatureType, change: Record<string, unknown>, reason: RegExp][] = [
    ['evm', { price: '01' }, /price/],
    ['evm', { timestamp: '-1' }, /timestamp/],
    ['evm', { timestamp: 0 }, /too old/],
    ['evm', { s: undefined }, /signature/],
    ['evm', { signature_type: 'stark' }, /signature_type/],
    ['evm', { external_asset_id: 'btcusd' }, /external_asset_id/],
    ['evm', { publisher_key: publisherSigner(9).publicKey }, /allow-list/],
    ['evm', { msg_hash: `0x${'11'.repeat(32)}` }, /msg_hash/],
    ['evm', { r: `0x${'1'.repeat(64)}` }, /signature is not by/],
    ['evm', { metadata: 5 }, /metadata/],
    ['stark', { price: '-1' }, /negative/],
    ['stark', { r: '0x1' }, /signature is not by/],
    ['stark', { external_asset_id: '0x' }, /external_asset_id/],
  ];
  for (const [type, change, reason] of refusals) {
    const update = altered(sign(type, {}), change);
    t.match((await refusalOf(sockets[type], update)) ?? 'accepted', reason, Object.keys(change).join());
  }
  t.equal(await latestText(service, 'BTCUSD', 'DYDXUSD'), '{"data":{}}');

  const pad = (hex: string) => `0x${hex.slice(2).padStart(64, '0')}`;
  const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}`;
  for (const [type, write] of [
    ['evm', upper],
    ['stark', pad],
  ] as const) {
    const update = sign(type);
    const { publisher_key, timestamped_signature } = update.signed_price;
    const { msg_hash, signature } = timestamped_signature;
    const same = altered(update, {
      publisher_key: write(publisher_key),
      msg_hash: write(msg_hash),
      r: write(signature.r),
      s: write(signature.s),
    });
    t.equal(await refusalOf(sockets[type], same), undefined);
    t.same((await latestWhen(service, update.asset_id)).signed_prices, [same.signed_price], type);
  }

  const metadata =
    '{"b":[null,{"timestamp":17575430805054510101}],"a":12345678901234567890,"one":1.0,"big":1E+400}';
  const update = altered(sign('evm', { here: true }), { metadata: '@' });
  sockets.evm.send(messageOf('m', { BTCUSD: update }).replace('"@"', () => metadata));
  t.match(await sockets.evm.nextJson(), { accepted: ['BTCUSD'] });
  const { timestamp } = update.signed_price.timestamped_signature;
  await latestWhen(service, 'BTCUSD', (aggregate) => aggregate.timestamp === timestamp);
  t.ok((await latestText(service, 'BTCUSD')).includes(`"metadata":${metadata}`), 'every digit, in its order');
});

test('messages and their answers', async (t) => {
  const service = await startTestService({ limits: { publish_message_bytes: MESSAGE_BYTES } });
  t.teardown(() => service.stop());
  const update = () =>
    publisherSigner(1).sign({ symbol: 'BTCUSD', price: UNIT, timestampNs: distinctNowNs() });
  const answerTo = async (socket: TestSocket, message: string) => {
    socket.send(message);
    return socket.nextJson();
  };

  for (const query of ['', '?ack=false', '?ack=true', '?ack=durable'])
    await t.test(`with "${query}" each message has its answer, and a ping too`, async (t) => {
      const socket = await openPublisher(service, 'evm', { query });
      socket.send(messageOf('good', { BTCUSD: update() }));
      socket.send(messageOf('mixed', { BTCUSD: update(), NOUSD: {} }));
      const rejected = { NOUSD: /not an object/ };
      if (/true|durable/.test(query)) {
        t.match(await socket.nextJson(), {
          type: 'ack',
          trace_id: 'good',
          accepted: ['BTCUSD'],
          rejected: {},
        });
        t.match(await socket.nextJson(), { type: 'ack', trace_id: 'mixed', accepted: ['BTCUSD'], rejected });
      } else
        t.match(await socket.nextJson(), { type: 'error', trace_id: 'mixed', error: /1 of 2/, rejected });
      t.same(await answerTo(socket, '{ "id": "x", "type": "ping" }'), { type: 'pong', id: 'x' });
      await socket.close();
    });

  await t.test('messages that are not what they should be', async (t) => {
    const socket = await openPublisher(service);
    for (const [message, error] of [
      ['', /not JSON/],
      ['\u0000', /not JSON/],
      ['[]', /object/],
      ['{"type":["signed_prices"],"data":{}}', /type/],
      ['{"type":"signed_prices","data":[]}', /data/],
    ] as const) {
      const answer = await answerTo(socket, message);
      t.match(answer, { type: 'error', error }, message);
      t.notMatch(JSON.stringify(answer), /\/(?:src|dist)\/|node_modules| at /, 'nothing internal shows');
    }
    t.match(
      await answerTo(socket, messageOf('x'.repeat(257), { BTCUSD: update() })),
      { type: 'ack', accepted: ['BTCUSD'], error: /^trace_id is / },
      'the prices beside a wrong trace_id count',
    );
    await socket.close();
  });

  await t.test('a connection that breaks the protocol ends alone', async (t) => {
    const other = await openPublisher(service);
    const endings: readonly [send: (socket: TestSocket) => void, codes: readonly number[]][] = [
      [({ ws }) => ws.send(' '.repeat(10 * MESSAGE_BYTES)), [1006]],
      [({ ws }) => ws.send(Buffer.from(messageOf('binary', { BTCUSD: update() }))), [1003]],
      [({ ws }) => ws.send(Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), { binary: false }), [1006, 1007]],
    ];
    for (const [send, codes] of endings) {
      const socket = await openPublisher(service);
      send(socket);
      const { code } = await socket.closed;
      t.ok(codes.includes(code), `${code}`);
    }
    t.equal(await refusalOf(other, update()), undefined);
    await other.close();
  });

  await t.test('many messages are answered in their order', async (t) => {
    const socket = await openPublisher(service);
    const count = 300;
    for (let i = 0; i < count; i++)
      socket.send(messageOf(`${i}`, i % 3 === 0 ? { NOUSD: {} } : { BTCUSD: update() }));
    for (let i = 0; i < count; i++) t.equal((await socket.nextJson())['trace_id'], `${i}`);
    await socket.close();
  });
});

test('a publisher that never reads is neither closed nor slowed', async (t) => {
  const service = await startTestService({
    limits: { idle_timeout: '8s', publish_bytes_per_second: '64 MiB' },
  });
  t.teardown(() => service.stop());
  const silent = await openPublisher(service);
  silent.ws.pause();
  // Each answer repeats the 80 KB of names in its message. The answers have 24 MB in total, which is more than the system's
  // buffers hold.
  const data = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`${i}`.padEnd(10_000, 'x'), {}]));
  const noise = JSON.stringify({ type: 'signed_prices', trace_id: 'noise', data });
  for (let i = 0; i < 300; i++) silent.send(noise);
  const sign = (n: number, price: bigint) =>
    publisherSigner(n).sign({ symbol: 'BTCUSD', price, timestampNs: distinctNowNs() });
  silent.send(messageOf('last', { BTCUSD: sign(1, 7n * UNIT) }));
  const { price } = await latestWhen(service, 'BTCUSD');
  t.equal(price, `${7n * UNIT}`, 'what it sends still counts');
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
  const dropped = Number(/^tickseal_publisher_replies_dropped_total (\d+)$/m.exec(metrics)?.[1]);
  t.ok(dropped > 100, `${dropped} of 300 replies are dropped, so that they take no memory`);
  const { accepted } = await publish(await openPublisher(service), [sign(2, UNIT)]);
  t.same(accepted, ['BTCUSD']);
  silent.ws.resume();
  const closed = once(silent.ws, 'close');
  silent.ws.terminate();
  await closed;
});
