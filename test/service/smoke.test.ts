import { test } from 'tap';
import { publishMessage } from '../../src/client/index.js';
import type { Price } from '../../src/model/price.js';
import { get, publisherSigner, startTestService, TestSocket } from './harness.js';

test('a price goes from a publisher to REST and to a stream', async (t) => {
  const service = await startTestService({ assets: [{ id: 1, symbol: 'BTCUSD', clock_period: '24h' }] });
  t.teardown(() => service.stop());
  const stream = await TestSocket.open(`${service.socketUrl}/ws`);
  stream.send({ type: 'subscribe', assets: [1], id: 1 });
  t.same(await stream.nextJson(), { type: 'subscribe', id: 1, assets: [1], invalid: [] });

  const publisher = await TestSocket.open(`${service.socketUrl}/evm/publish?ack=durable`);
  const price = 65_000n * 10n ** 18n;
  const timestampNs = BigInt(Date.now()) * 1_000_000n;
  const update = publisherSigner(1).sign({ symbol: 'BTCUSD', price: price as Price, timestampNs });
  publisher.send(publishMessage('trace', [update]));
  t.same(await publisher.nextJson(), { type: 'ack', trace_id: 'trace', accepted: ['BTCUSD'], rejected: {} });

  t.match(await stream.nextJson(), { type: 'unsigned', tax: 1, a: [{ id: 1, v: String(price) }] });
  const latest = (await (await get(`${service.url}/v1/prices/latest?assets=BTCUSD`)).json()) as {
    data: Record<string, { price: string; trigger: string }>;
  };
  t.match(latest.data, { BTCUSD: { price: String(price), trigger: 'delta' } });
});
