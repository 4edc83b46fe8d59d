import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { parseExactJson } from '../../src/client/index.js';
import { SIGNATURE_TYPES } from '../../src/wire/signatures.js';
import { THREAD_COUNTS } from '../tier.js';
import { Feed, units } from './feed.js';
import { startTestService, TestSocket } from './harness.js';
import { latestText } from './publishing.js';

const SYMBOLS = { evm: 'BTCUSD', stark: 'DYDXUSD' };

for (const threads of THREAD_COUNTS)
  for (const type of SIGNATURE_TYPES)
    test(`${type}: aggregates as REST serves them, at once and at each signing, ${threads} threads`, async (t) => {
      const service = await startTestService(t, {
        service: { name: 'stork', encoded_asset_id: 'keccak256' },
        listen: { port: 0, threads },
        assets: [
          { id: 1, symbol: 'BTCUSD', clock_period: '24h' },
          { id: 2, symbol: 'DYDXUSD', signature_type: 'stark', clock_period: '24h' },
        ],
      });
      const symbol = SYMBOLS[type];
      const feed = await Feed.open(service, { type });
      await feed.accept({ symbol, price: units(100) });
      await eventually(async () => (await latestText(service, symbol)).includes(symbol));
      const socket = await TestSocket.open(`${service.socketUrl}/${type}/subscribe`);
      socket.send({ type: 'subscribe', data: [symbol, 'NO'] });
      t.equal(await socket.next(), `{"type":"subscribe","data":{"subscriptions":["${symbol}"]}}`);
      const messages = [await socket.next(), await socket.next()];
      const snapshot = messages.find((text) => text.includes('oracle_prices'))!;
      t.ok(messages.some((text) => text.startsWith('{"type":"error"') && !text.includes('"data"')));
      const entry = snapshot.slice(snapshot.indexOf('"data":{') + '"data":{'.length, -2);
      t.equal(await latestText(service, symbol), `{"data":{${entry}}}`, 'the same text');

      await feed.accept({ symbol, price: units(110) });
      const text = await socket.next();
      const { data } = parseExactJson(text) as { data: Record<string, Record<string, unknown>> };
      t.match(data[symbol], { price: String(units(110)), trigger: 'delta', signature_type: type });
      t.match(data[symbol], { stork_signed_price: { encoded_asset_id: /^0x[0-9a-f]{64}$/ } });
      t.match(text, /"timestamp":\d{19}[,}]/, 'integers without quotation marks');
      await socket.close();
    });
