import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { parseExactJson } from '../../src/client/index.js';
import { SIGNATURE_TYPES } from '../../src/wire/signatures.js';
import { THREAD_COUNTS } from '../tier.js';
import { Feed, units } from './feed.js';
import { startTestService, type TestService, TestSocket, TOKEN } from './harness.js';
import { type Aggregate, latestText } from './publishing.js';

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
      const service = await startTestService(t, {
        service: { name: 'stork', encoded_asset_id: 'keccak256' },
        listen: { port: 0, threads },
        assets: assetsOf('24h'),
      });
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
