import { test } from 'tap';
import { writeExactJson } from '../../src/client/index.js';
import { distinctNowNs } from './feed.js';
import { publisherSigner, startTestService, type TestSocket } from './harness.js';
import { openPublisher, publish, refusalOf, UNIT } from './publishing.js';

const MESSAGE_BYTES = 8 * 1024;
const SYMBOLS = ['BTCUSD', 'ETHUSD', 'SOLUSD', 'XRPUSD'];
const signer = publisherSigner(1);

function update(symbol: string, metadata?: object) {
  return signer.sign({ symbol, price: UNIT, timestampNs: distinctNowNs(), metadata });
}

function messageOf(traceId: unknown, data: unknown): string {
  return writeExactJson({ type: 'signed_prices', trace_id: traceId, data });
}

test('messages and their answers', async (t) => {
  const service = await startTestService({
    assets: SYMBOLS.map((symbol, i) => ({ id: i + 1, symbol })),
    limits: { publish_message_bytes: MESSAGE_BYTES },
  });
  t.teardown(() => service.stop());
  const answerTo = async (socket: TestSocket, message: string) => {
    socket.send(message);
    return socket.nextJson();
  };

  await t.test('without ack only what is bad is reported', async (t) => {
    for (const query of ['', '?ack=false']) {
      const socket = await openPublisher(service, 'evm', { query });
      socket.send(messageOf('good', { BTCUSD: update('BTCUSD') }));
      socket.send(messageOf('mixed', { BTCUSD: update('BTCUSD'), ETHUSD: update('ETHUSD'), NOUSD: {} }));
      const { error, ...rest } = await socket.nextJson();
      t.match(error, /1 of 3/);
      t.match(rest, { type: 'error', trace_id: 'mixed', rejected: { NOUSD: /not an object/ } });
      t.same(Object.keys(rest['rejected'] as object), ['NOUSD']);
      await socket.close();
    }
  });

  await t.test('a ping is answered, whatever ack says', async (t) => {
    for (const query of ['', '?ack=durable']) {
      const socket = await openPublisher(service, 'evm', { query });
      t.same(await answerTo(socket, '{"type":"ping"}'), { type: 'pong' });
      t.same(await answerTo(socket, '{ "id": "x", "type": "ping" }'), { type: 'pong', id: 'x' });
      const long = `{"type":"ping","id":"x"${' '.repeat(600)}}`;
      t.same(await answerTo(socket, long), { type: 'pong', id: 'x' });
      const longId = `{"type":"ping","id":"${'x'.repeat(600)}"}`;
      t.match(await answerTo(socket, longId), { type: 'error' });
      await socket.close();
    }
  });

  for (const ack of ['true', 'durable'])
    await t.test(`with ack=${ack} every message is answered, asset by asset`, async (t) => {
      const socket = await openPublisher(service, 'evm', { query: `?ack=${ack}` });
      const { type, accepted, rejected } = await publish(socket, {
        SOLUSD: update('SOLUSD'),
        XRPUSD: { ...update('XRPUSD'), asset_id: 'SOLUSD' },
        BTCUSD: update('BTCUSD'),
      });
      t.equal(type, 'ack');
      t.same(accepted, ['SOLUSD', 'BTCUSD']);
      t.match(rejected, { XRPUSD: /asset_id/ });
      t.same(Object.keys(rejected), ['XRPUSD']);
      t.match(await answerTo(socket, messageOf('nothing', {})), { type: 'ack', accepted: [], rejected: {} });
      const untraced = writeExactJson({ type: 'signed_prices', data: { ETHUSD: update('ETHUSD') } });
      t.same(await answerTo(socket, untraced), { type: 'ack', accepted: ['ETHUSD'], rejected: {} });
      const extra = `{"extra":[1.5,{"deep":null}],${messageOf('é"\\\u2028', { ETHUSD: update('ETHUSD') }).slice(1)}`;
      t.match(await answerTo(socket, extra), { type: 'ack', trace_id: 'é"\\\u2028', accepted: ['ETHUSD'] });
      await socket.close();
    });

  await t.test('messages that are not what they should be', async (t) => {
    const socket = await openPublisher(service);
    const cases: [message: string, error: RegExp][] = [
      ['', /not JSON/],
      ['hello', /not JSON/],
      ['{"type":"signed_prices","data":{}', /not JSON/],
      [messageOf('t', {}).replace('{}', '{,}'), /not JSON/],
      ['\u0000', /not JSON/],
      ['null', /object/],
      ['17', /object/],
      ['"signed_prices"', /object/],
      ['[]', /object/],
      ['{}', /type/],
      ['{"type":"signed_price","data":{}}', /type/],
      ['{"type":["signed_prices"],"data":{}}', /type/],
      ['{"type":"signed_prices"}', /data/],
      ['{"type":"signed_prices","data":null}', /data/],
      ['{"type":"signed_prices","data":[]}', /data/],
      ['{"type":"signed_prices","data":7}', /data/],
      ['{"type":"signed_prices","data":12345678901234567890}', /data/],
      [`${'['.repeat(4000)}${']'.repeat(4000)}`, /object|JSON|deeper/],
      [`{"type":"signed_prices","data":${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}}`, /./],
    ];
    for (const [message, error] of cases) {
      const answer = await answerTo(socket, message);
      if (answer['type'] === 'ack')
        t.match(Object.values(answer['rejected'] as object), [error], JSON.stringify(message));
      else t.match(answer, { type: 'error', error }, JSON.stringify(message.slice(0, 60)));
      t.notMatch(JSON.stringify(answer), /\/(?:src|dist)\/|node_modules| at /, 'nothing internal shows');
    }
    for (const traceId of [7, {}, 'x'.repeat(257)])
      t.match(
        await answerTo(socket, messageOf(traceId, { BTCUSD: update('BTCUSD') })),
        { type: 'ack', accepted: ['BTCUSD'], rejected: {}, error: /^trace_id is / },
        'the prices beside a wrong trace_id count',
      );
    t.match(await answerTo(socket, '{"trace_id":"named","type":"no"}'), { trace_id: 'named' });
    t.equal(await refusalOf(socket, update('BTCUSD')), undefined, 'the socket is still served');
    await socket.close();
  });

  await t.test('far past the size of a message the connection ends', async (t) => {
    const socket = await openPublisher(service);
    socket.ws.send(' '.repeat(10 * MESSAGE_BYTES));
    t.equal((await socket.closed).code, 1006);
  });

  await t.test('a binary message closes its own socket and no other', async (t) => {
    const other = await openPublisher(service);
    const socket = await openPublisher(service);
    socket.ws.send(Buffer.from(messageOf('binary', { BTCUSD: update('BTCUSD') })));
    t.equal((await socket.closed).code, 1003);
    t.equal(await refusalOf(other, update('BTCUSD')), undefined);
    await other.close();
  });

  await t.test('a text that is not UTF-8 ends its own connection', async (t) => {
    const socket = await openPublisher(service);
    socket.ws.send(Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), { binary: false });
    t.ok([1006, 1007].includes((await socket.closed).code));
  });

  await t.test('many messages are answered in their order', async (t) => {
    const socket = await openPublisher(service);
    const count = 300;
    for (let i = 0; i < count; i++)
      socket.send(messageOf(`${i}`, i % 3 === 0 ? { NOUSD: {} } : { BTCUSD: update('BTCUSD') }));
    for (let i = 0; i < count; i++) t.equal((await socket.nextJson())['trace_id'], `${i}`);
    await socket.close();
  });
});
