import { test } from 'tap';
import { WebSocket } from 'ws';
import { eventually } from '../../scripts/load/wait.js';
import { NODE } from '../../src/client/connect/node_platform.js';
import {
  type AggregatePrice,
  Client,
  createClient,
  type Fetch,
  RefusedError,
  type Tick,
  UnverifiedError,
} from '../../src/client/node.js';
import { Feed, units } from './feed.js';
import { startTestService, type TestService, TOKEN } from './harness.js';

// Tests of the client against a running service.

const ASSETS = [
  { id: 1, symbol: 'BTCUSD' },
  { id: 2, symbol: 'DYDXUSD', signature_type: 'stark' },
  { id: 3, symbol: 'AAPL', calendar: 'us_equities' },
];

/** Creates a client that trusts the signers that the service names. */
async function clientOf({ url }: TestService, fetch?: Fetch): Promise<Client> {
  const options = { urls: url, token: TOKEN, oracleId: 'servc', fetch };
  const { signers } = await createClient({ ...options, signers: 'unchecked' }).taxonomy();
  return createClient({ ...options, signers: signers.map(({ address }) => address) });
}

test('aggregates are verified, with every check', async (t) => {
  const service = await startTestService(t, { assets: ASSETS });
  await (await Feed.open(service)).accept({ symbol: 'BTCUSD', price: units(61000) });
  await (await Feed.open(service, { type: 'stark' })).accept({ symbol: 'DYDXUSD', price: units(2) });
  const client = await clientOf(service);
  const { BTCUSD, DYDXUSD, AAPL } = await eventually(async () => {
    const prices = await client.latest(['BTCUSD', 'DYDXUSD', 'AAPL']);
    return prices['BTCUSD'] !== undefined && prices['DYDXUSD'] !== undefined && prices;
  });
  t.match(BTCUSD, { symbol: 'BTCUSD', decimal: '61000', verdict: 'verified', url: service.url });
  t.match(BTCUSD, { quality: { publishers: 1, inputSpread: 0n } });
  t.match(DYDXUSD, { decimal: '2', verdict: 'verified' });
  t.equal(AAPL, undefined, 'an asset without a price is left out');
  t.ok(BTCUSD!.checks.some(({ name }) => name === 'publisher_merkle_root'));
  t.match(BTCUSD!.text, new RegExp(`"timestamp":${BTCUSD!.timestampNs}\\b`), 'the text keeps every digit');
  const second = Number(BTCUSD!.timestampNs / 1_000_000_000n);
  t.equal((await client.recent(['BTCUSD'], second))['BTCUSD']!.price, units(61000));
  const candles = await client.candles('BTCUSD', { resolution: '1', from: second - 60, to: second + 60 });
  t.match(candles, [{ time: second - (second % 60), open: 61000, high: 61000, low: 61000, close: 61000 }]);
  t.match(await client.marketStatus('AAPL'), { status: String, next: String, changesAt: Number });
  t.same(await client.assets(), ['BTCUSD', 'DYDXUSD', 'AAPL']);
  await t.rejects(client.latest(['XYZ']), RefusedError);
  const other = createClient({ urls: service.url, token: TOKEN, signers: [`0x${'1'.repeat(40)}`] });
  await t.rejects(other.latest(['BTCUSD']), UnverifiedError);
});

test('a publisher gives the verdict on each price', async (t) => {
  const service = await startTestService(t, { assets: ASSETS });
  const client = createClient({ urls: service.url, token: TOKEN, signers: 'unchecked' });
  const key = (0x101).toString(16);
  for (const [signatureType, symbol] of [
    ['evm', 'BTCUSD'],
    ['stark', 'DYDXUSD'],
  ] as const) {
    const publisher = client.publisher({ key, signatureType, oracleId: 'tests' });
    const verdicts = await Promise.all([
      publisher.publish({ [symbol]: '61000.5', XYZ: 1n }),
      publisher.publish({ [symbol]: '61000.75' }),
    ]);
    t.match(verdicts, [
      { [symbol]: { status: 'accepted' }, XYZ: { status: 'rejected', reason: String } },
      { [symbol]: { status: 'accepted' } },
    ]);
    await eventually(async () => (await client.latest([symbol]))[symbol]?.decimal === '61000.75');
    await t.rejects(publisher.publish({ [symbol]: '1,5' }), RangeError);
    await t.rejects(publisher.publish({ [symbol]: 61000.5 as never }), TypeError);
    await publisher.close();
    t.match(await publisher.publish({ [symbol]: '1' }), { [symbol]: { status: 'failed', reason: 'closed' } });
  }
  await client.close();
});

test('a client that sends no headers opens each connection with a ticket, and no address carries a secret', async (t) => {
  const service = await startTestService(t);
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(1) });
  const upgrades: { readonly url: string; readonly protocols: readonly string[] }[] = [];
  const platform = {
    ...NODE,
    sendsHeaders: false,
    openSocket(url: string, headers: object, protocols: readonly string[] = []) {
      if (Object.keys(headers).length > 0) throw new Error('a browser sends no headers');
      upgrades.push({ url, protocols });
      return new WebSocket(url, [...protocols]);
    },
  };
  const client = new Client({ urls: service.url, token: TOKEN, signers: 'unchecked' }, platform);
  for (let i = 0; i < 2; i += 1) {
    const { value } = await client.stream(['BTCUSD'], { channel: '20ms' }).next();
    t.equal(value!.decimal, '1');
  }
  for (const { url } of upgrades) t.notMatch(url, /ticket|token/);
  t.equal(new Set(upgrades.map(({ protocols }) => protocols[1])).size, 2);
  t.same(new Set(upgrades.map(({ protocols }) => protocols[0])), new Set(['tickseal.v1']));
  const [, ticket] = upgrades[0]!.protocols;
  const again = new WebSocket(upgrades[0]!.url, ['tickseal.v1', ticket!]);
  const status = await new Promise((resolve) =>
    again.on('unexpected-response', (_request, response) => resolve(response.statusCode)),
  );
  t.equal(status, 401, 'a ticket opens one connection');
  await client.close();
});

test('ticks are verified prices by symbol', async (t) => {
  const service = await startTestService(t, { assets: ASSETS });
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: (units(61000) + units(1) / 2n) as never });
  await feed.accept({ symbol: 'AAPL', price: units(200) });
  const client = await clientOf(service);
  const states: object[] = [];
  const errors: Error[] = [];
  client.on('state', (state) => states.push(state));
  client.on('error', (error) => errors.push(error));
  const seen = new Map<string, Tick>();
  const options = { channel: '100ms', attributes: ['ms', 'quality'] } as const;
  for await (const tick of client.stream(['BTCUSD', 'AAPL'], options)) {
    const last = seen.get(tick.symbol)?.timestampNs ?? 0n;
    t.ok(tick.timestampNs > last, 'times grow');
    seen.set(tick.symbol, tick);
    if (seen.size === 2) break;
  }
  const btc = seen.get('BTCUSD')!;
  t.equal(btc.price, 61_000_500_000_000_000_000_000n);
  t.match(btc, { signer: service.evmAddress, verdict: 'verified', status: undefined, url: service.url });
  t.match(btc.attributes, { marketStatus: null, inputAgeMs: Number, publishers: 1, spreadPpm: 0 });
  t.match(seen.get('AAPL')!.status, /^(?:closed|regular hours|extended hours|after hours)$/);
  t.same(states, [{ url: service.url, state: 'open', reason: '' }]);
  t.same(errors, []);
  await client.close();
});

test('a range is read over several answers, verified, and goes on after a lost connection', async (t) => {
  const asset = { id: 1, symbol: 'BTCUSD', max_age: '24h', clock_period: '24h' };
  const service = await startTestService(t, { assets: [asset], limits: { range_rows: 3 } });
  let cuts = 0;
  const client = await clientOf(service, async (url, init) => {
    const response = await fetch(url, init as RequestInit);
    if (!url.includes('/range') || cuts >= 2) return response as never;
    cuts++;
    return cutBody(response);
  });
  const feed = await Feed.open(service);
  const shown: AggregatePrice[] = [];
  for (const price of [100, 110, 120, 130, 140, 150, 160, 170]) {
    await feed.accept({ symbol: 'BTCUSD', price: units(price) });
    shown.push(
      await eventually(async () => {
        const { BTCUSD } = await client.latest(['BTCUSD']);
        return BTCUSD?.decimal === String(price) && BTCUSD;
      }),
    );
  }
  const from = shown[0]!.timestampNs;
  const read: AggregatePrice[] = [];
  for await (const price of client.range('BTCUSD', { from })) read.push(price);
  t.same(
    read.map(({ text }) => text),
    shown.map(({ text }) => text),
    'as REST showed them, none twice, none missing',
  );
  t.ok(read.every(({ verdict }) => verdict === 'verified'));
  t.equal(cuts, 2);
  const { BTCUSD: old } = await client.at(['BTCUSD'], shown[4]!.timestampNs - 1n);
  t.equal(old!.text, shown[3]!.text);
  const refusal: unknown = await client.at(['BTCUSD'], 1n).catch((error: unknown) => error);
  t.ok(refusal instanceof RefusedError && refusal.status === 410);
  t.ok((refusal as RefusedError).keptFromNs! <= from);
  await client.close();
});

/** Cuts the body of a response off in the middle of a row, with an error. */
function cutBody(response: Response) {
  let isRead = false;
  const reader = {
    async read() {
      if (isRead) throw new Error('the connection was lost');
      isRead = true;
      const text = await response.text();
      const end = text.indexOf('\n', text.length / 2) + 20;
      return { done: false, value: Buffer.from(text.slice(0, end)) };
    },
    cancel: async () => {},
  };
  const { status, headers } = response;
  return { status, headers, text: () => response.text(), body: { getReader: () => reader } };
}
