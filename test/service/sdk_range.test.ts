import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import {
  type AggregatePrice,
  type ClientOptions,
  createClient,
  type Fetch,
  RefusedError,
} from '../../src/client/node.js';
import { Feed, units } from './feed.js';
import { startTestService, TOKEN } from './harness.js';

async function all(prices: AsyncIterable<AggregatePrice>): Promise<AggregatePrice[]> {
  const read: AggregatePrice[] = [];
  for await (const price of prices) read.push(price);
  return read;
}

/** Cuts the body of a response off in the middle of a row, with an error. */
function cutBody(response: Response) {
  return {
    status: response.status,
    headers: response.headers,
    text: () => response.text(),
    body: {
      getReader() {
        let isRead = false;
        return {
          async read() {
            if (isRead) throw new Error('the connection was lost');
            isRead = true;
            const text = await response.text();
            return {
              done: false,
              value: Buffer.from(text.slice(0, text.indexOf('\n', text.length / 2) + 20)),
            };
          },
          cancel: async () => {},
        };
      },
    },
  };
}

test('a range is read over several answers, verified, and goes on after a lost connection', async (t) => {
  const assets = [
    { id: 1, symbol: 'BTCUSD', max_age: '24h', clock_period: '24h' },
    { id: 2, symbol: 'DYDXUSD', signature_type: 'stark', max_age: '24h', clock_period: '24h' },
  ];
  const service = await startTestService(t, {
    assets,
    limits: { range_rows: 3 },
  });
  const options: ClientOptions = {
    urls: service.url,
    token: TOKEN,
    signers: 'unchecked',
    oracleId: 'servc',
  };
  const { signers } = await createClient(options).taxonomy();
  const client = createClient({ ...options, signers: signers.map(({ address }) => address) });
  const feed = await Feed.open(service);
  const prices = [100, 110, 120, 130, 140, 150, 160, 170];
  const shown: AggregatePrice[] = [];
  for (const price of prices) {
    await feed.accept({ symbol: 'BTCUSD', price: units(price) });
    shown.push(
      await eventually(async () => {
        const { BTCUSD } = await client.latest(['BTCUSD']);
        return BTCUSD?.decimal === String(price) && BTCUSD;
      }),
    );
  }
  await (await Feed.open(service, { type: 'stark' })).accept({ symbol: 'DYDXUSD', price: units(2) });
  const { timestampNs: starkNs } = await eventually(
    async () => (await client.latest(['DYDXUSD']))['DYDXUSD'],
  );
  const firstNs = shown[0]!.timestampNs;
  const from = starkNs < firstNs ? starkNs : firstNs;
  const read = await all(client.range('BTCUSD', { from }));
  t.same(
    read.map(({ text }) => text),
    shown.map(({ text }) => text),
    'as REST showed them',
  );
  t.ok(read.every(({ verdict }) => verdict === 'verified'));
  const [stark] = await all(client.range('DYDXUSD', { from, detail: 'signature' }));
  t.match(stark, { verdict: 'verified', decimal: '2' });
  t.notMatch(stark!.text, /signed_prices/);
  const later = shown[4]!.timestampNs;
  const { BTCUSD: old } = await client.at(['BTCUSD'], later - 1n);
  t.equal(old!.text, shown[3]!.text);
  const gone = { name: 'RefusedError', status: 410 };
  await t.rejects(client.at(['BTCUSD'], 1n), gone);
  await t.rejects(all(client.range('BTCUSD', { from: 1n })), gone);
  const refusal: unknown = await client.at(['BTCUSD'], 1n).catch((error: unknown) => error);
  t.ok(refusal instanceof RefusedError && refusal.keptFromNs !== undefined && refusal.keptFromNs <= from);

  let cuts = 0;
  const lossy: Fetch = async (url, init) => {
    const response = await fetch(url, init as RequestInit);
    if (!url.includes('/range') || cuts >= 2) return response as never;
    cuts++;
    return cutBody(response);
  };
  const patient = createClient({ ...options, fetch: lossy });
  const again = await all(patient.range('BTCUSD', { from }));
  t.same(
    again.map(({ text }) => text),
    shown.map(({ text }) => text),
    'none twice, none missing',
  );
  t.equal(cuts, 2);

  for (const one of [client, patient]) await one.close();
});
