import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { parseExactJson } from '../../src/client/index.js';
import { SIGNATURE_TYPES } from '../../src/wire/signatures.js';
import { THREAD_COUNTS } from '../tier.js';
import { Feed, units } from './feed.js';
import { get, sha256, startTestService, type TestService, TestSocket, TOKEN } from './harness.js';
import { type Aggregate, latestText, refusedUpgrade } from './publishing.js';

const SYMBOLS = { evm: 'BTCUSD', stark: 'DYDXUSD' };

interface Frame {
  readonly type: string;
  readonly trace_id: string;
  readonly data: Readonly<Record<string, Aggregate>>;
}

async function subscribe(
  service: TestService,
  type: 'evm' | 'stark',
  symbols: readonly string[],
  token = TOKEN,
) {
  const socket = await TestSocket.open(`${service.socketUrl}/${type}/subscribe`, token);
  socket.send({ type: 'subscribe', data: symbols });
  const answer = await socket.next();
  return { socket, answer };
}

async function nextFrame(socket: TestSocket): Promise<{ frame: Frame; text: string }> {
  const text = await socket.next();
  return { frame: parseExactJson(text) as Frame, text };
}

const assetsOf = (clockPeriod: string) => [
  { id: 1, symbol: 'BTCUSD', clock_period: clockPeriod },
  { id: 2, symbol: 'DYDXUSD', signature_type: 'stark', clock_period: clockPeriod },
];

for (const threads of THREAD_COUNTS)
  for (const type of SIGNATURE_TYPES)
    test(`${type}: aggregates as REST serves them, at once and at each signing, ${threads} threads`, async (t) => {
      const service = await startTestService({
        service: { name: 'stork', encoded_asset_id: 'keccak256' },
        listen: { port: 0, threads },
        assets: assetsOf('24h'),
      });
      t.teardown(() => service.stop());
      const symbol = SYMBOLS[type];
      const feed = await Feed.open(service, { type });
      await feed.accept({ symbol, price: units(100) });
      await eventually(async () => (await latestText(service, symbol)).includes(symbol));
      const { socket, answer } = await subscribe(service, type, [symbol, 'NO']);
      t.equal(answer, `{"type":"subscribe","data":{"subscriptions":["${symbol}"]}}`);
      const messages = [await socket.next(), await socket.next()];
      const snapshot = messages.find((text) => text.includes('oracle_prices'))!;
      t.ok(messages.some((text) => text.startsWith('{"type":"error"') && !text.includes('"data"')));
      const entry = snapshot.slice(snapshot.indexOf('"data":{') + '"data":{'.length, -2);
      t.equal(await latestText(service, symbol), `{"data":{${entry}}}`, 'the same text');

      await feed.accept({ symbol, price: units(110) });
      const { frame, text } = await nextFrame(socket);
      t.match(frame, { type: 'oracle_prices', trace_id: String });
      t.same(Object.keys(frame), ['type', 'trace_id', 'data']);
      const aggregate = frame.data[symbol] as unknown as Record<string, Aggregate['service_signed_price']>;
      t.match(aggregate, { price: String(units(110)), trigger: 'delta', signature_type: type });
      const signed = aggregate['stork_signed_price']!;
      t.match(signed.encoded_asset_id, /^0x[0-9a-f]{64}$/);
      t.match(text, /"timestamp":\d{19}[,}]/, 'integers without quotation marks');
      const { signature, msg_hash } = signed.timestamped_signature;
      for (const hex of [signature.r, signature.s, msg_hash]) t.match(hex, /^0x[0-9a-f]{64}$/);
      if (type === 'evm') t.match(signature.v, /^0x1[bc]$/);
      else t.match(signed.public_key, /^0x[0-9a-f]{64}$/);
      await socket.close();
      await feed.socket.close();
    });

test('an aggregate comes at each clock period', async (t) => {
  const service = await startTestService({ assets: assetsOf('50ms') });
  t.teardown(() => service.stop());
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(1) });
  const { socket } = await subscribe(service, 'evm', ['BTCUSD']);
  const times: bigint[] = [];
  for (let clocks = 0; clocks < 3; ) {
    const { BTCUSD: aggregate } = (await nextFrame(socket)).frame.data;
    times.push(aggregate!.service_signed_price.timestamped_signature.timestamp);
    if (aggregate!.trigger === 'clock') clocks++;
  }
  t.same(times, [...new Set(times)].sort(), 'each is another, and later');
});

test('who may subscribe, and how many', async (t) => {
  const token = { requests_per_second: 1000, scopes: ['stream'] };
  const tokens = [
    { ...token, name: 'all', sha256: sha256(TOKEN), scopes: ['rest', 'stream', 'publish'] },
    { ...token, name: 'one', sha256: sha256('one'), assets: ['ETHUSD'] },
    { ...token, name: 'rest', sha256: sha256('rest'), scopes: ['rest'] },
  ];
  const assets = [
    { id: 1, symbol: 'BTCUSD' },
    { id: 2, symbol: 'ETHUSD' },
  ];
  const limits = { connections_per_token: 2, stream_connections: 3 };
  const service = await startTestService({ tokens, assets, limits });
  t.teardown(() => service.stop());
  const url = `${service.url}/evm/subscribe`;
  const refused = async (...headers: string[]) => (await refusedUpgrade(url, headers)).status;
  t.equal(await refused(), 401);
  t.equal(await refused('Authorization', 'Basic unknown'), 401);
  t.equal(await refused('Authorization', 'Basic rest'), 403);
  t.equal((await get(url)).status, 426);
  const { socket, answer } = await subscribe(service, 'evm', ['BTCUSD'], 'one');
  t.match(answer, '"subscriptions":[]');
  t.match(await socket.next(), 'not covered by the token: BTCUSD');
  const mine = [(await subscribe(service, 'evm', ['BTCUSD'])).socket];
  mine.push(await TestSocket.open(`${service.socketUrl}/ws`));
  t.equal(await refused('Authorization', `Basic ${TOKEN}`), 429);
  t.equal(await refused('Authorization', 'Basic one'), 503, 'stream_connections counts them all');
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
  t.match(metrics, /^tickseal_stream_connections 3$/m);
  t.match(metrics, /^tickseal_stream_groups 1$/m);

  service.reconfigure({ tokens: tokens.slice(0, 1), assets });
  t.match(await socket.closed, { code: 4401 });
  const stopped = service.stop();
  for (const open of mine) t.match(await open.closed, { code: 1001 });
  await stopped;
});

test('what a client should not send', async (t) => {
  const service = await startTestService({
    limits: { client_message_bytes: 128, control_messages_per_second: 3 },
  });
  t.teardown(() => service.stop());
  const { socket } = await subscribe(service, 'evm', ['BTCUSD']);
  socket.send('x'.repeat(129));
  t.match(await socket.nextJson(), { type: 'error', error: /129 bytes, client_message_bytes is 128/ });
  // The number is so large that even a paused machine cannot make room for all of them.
  for (let i = 0; i < 12; i++) socket.send({ type: 'unsubscribe', data: [] });
  await eventually(async () => (await socket.next()).includes('control_messages_per_second'));
  socket.ws.send(Buffer.from('binary'));
  t.match(await socket.closed, { code: 1003 });
});
