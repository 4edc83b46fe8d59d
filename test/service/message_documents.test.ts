import { test } from 'tap';
import { bodyOf, routesOf } from '../../scripts/site/described_routes.js';
import { type PriceToSign, publishMessage } from '../../src/client/index.js';
import { systemClock } from '../../src/clock/clock.js';
import type { AsyncApiDocument } from '../../src/server/documents/asyncapi.js';
import { messageFinder } from '../server/documents/checker.js';
import { Feed, units } from './feed.js';
import { publisherSigner, startTestService, TestSocket } from './harness.js';

// Tests that all messages on sockets agree with the document that a service serves.

const ASSETS = [
  { id: 1, symbol: 'BTCUSD' },
  { id: 2, symbol: 'DYDXUSD', signature_type: 'stark' },
  { id: 3, symbol: 'AAPL', calendar: 'us_equities' },
];
const clock = systemClock();
const asyncApi = JSON.parse(bodyOf(routesOf('service'), '/asyncapi.json')) as AsyncApiDocument;
const find = messageFinder(asyncApi);

test('a running service tells publishers what its document says', async (t) => {
  const service = await startTestService(t, { assets: ASSETS });
  const update = (over: Partial<PriceToSign> = {}): PriceToSign => ({
    symbol: 'BTCUSD',
    price: 72_147n * 10n ** 18n,
    timestampNs: clock.nowNs(),
    ...over,
  });
  const evm = publisherSigner(1);
  const stark = publisherSigner(1, 'stark');
  const said: string[] = [];
  /** Sends a message. Checks the message and the answer. */
  async function exchange(channel: string, query: string, text: string, isDocumented = true) {
    if (isDocumented) find(channel, 'client', text);
    const { address } = asyncApi.channels[channel]!;
    const socket = await TestSocket.open(`${service.socketUrl}${address}${query}`);
    socket.send(text);
    const answer = await socket.next();
    said.push(find(channel, 'service', answer));
    await socket.close();
    return answer;
  }
  const metadata = { venue: 'x', depth: { levels: 3 } };
  const both = [evm.sign(update({ metadata })), evm.sign(update({ symbol: 'AAPL', price: 5n }))];
  t.match(await exchange('publishEvm', '?ack=true', publishMessage('a', both)), '"BTCUSD","AAPL"');
  const one = stark.sign(update({ symbol: 'DYDXUSD' }));
  t.match(
    await exchange('publishStark', '?ack=durable', publishMessage('b', [one])),
    '"accepted":["DYDXUSD"]',
  );
  const unknown = publishMessage('c', [evm.sign(update({ symbol: 'NOUSD' }))]);
  t.match(await exchange('publishEvm', '', unknown), '"rejected":{"NOUSD":"unknown asset: ');
  t.match(await exchange('publishEvm', '', 'not JSON', false), '"error":"the message is not JSON: ');
  t.match(await exchange('publishStark', '', '{"type":"other","trace_id":"d"}', false), '"trace_id":"d"');
  t.equal(await exchange('publishStark', '', '{"type":"ping","id":"e"}'), '{"type":"pong","id":"e"}');
  t.same(said, ['ack', 'ack', 'publishError', 'publishError', 'publishError', 'pong']);
  await t.rejects(TestSocket.open(`${service.socketUrl}/evm/publish?ack=maybe`), /^400 .*ack must be/);
  await t.rejects(TestSocket.open(`${service.socketUrl}/ws?channel=2s`), /^400 .*channel must be/);
});

test('a running service tells readers of streams what its document says', async (t) => {
  const service = await startTestService(t, { assets: ASSETS });
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(1) }, { symbol: 'AAPL', price: units(5) });
  const queries = ['unsigned', 'unsigned&addtl_attrs=ms&channel=10ms', 'signed_ecdsa'];
  for (const query of queries) {
    const socket = await TestSocket.open(`${service.socketUrl}/ws?message_type=${query}`);
    const send = (message: object) => {
      find('stream', 'client', JSON.stringify(message));
      socket.send(message);
    };
    send({ type: 'subscribe', assets: [3, 1, 77], ignore_invalid: true, id: 'first' });
    socket.send({ type: 'subscribe', assets: 'all', id: 2 });
    socket.send('not JSON');
    send({ type: 'unsubscribe', assets: [1], id: 3 });
    send({ type: 'ping', id: 4 });
    const said = new Set<string>();
    const frame = query.startsWith('unsigned') ? 'unsigned' : 'signed';
    const wanted = ['subscribed', 'streamError', 'unsubscribed', 'pong', frame];
    while (!wanted.every((name) => said.has(name))) said.add(find('stream', 'service', await socket.next()));
    t.equal(said.size, wanted.length, query);
    await socket.close();
  }
});
