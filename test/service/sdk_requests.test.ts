import { test } from 'tap';
import { WebSocket } from 'ws';
import { eventually } from '../../scripts/load/wait.js';
import { NODE } from '../../src/client/connect/node_platform.js';
import {
  Client,
  type ClientOptions,
  createClient,
  RefusedError,
  type Tick,
  UnverifiedError,
} from '../../src/client/node.js';
import { Feed, units } from './feed.js';
import { publisherSigner, startTestService, type TestService, TOKEN } from './harness.js';

// Tests of the client against a running service.

const ASSETS = [
  { id: 1, symbol: 'BTCUSD' },
  { id: 2, symbol: 'DYDXUSD', signature_type: 'stark' },
  { id: 3, symbol: 'AAPL', calendar: 'us_equities' },
];

const SYMBOLS = ASSETS.map(({ symbol }) => symbol);

async function signersOf(service: TestService): Promise<string[]> {
  const client = createClient({ urls: service.url, token: TOKEN, signers: 'unchecked' });
  const { signers } = await client.taxonomy();
  return signers.map(({ address }) => address);
}

async function clientOf(service: TestService): Promise<Client> {
  return createClient({
    urls: service.url,
    token: TOKEN,
    signers: await signersOf(service),
    oracleId: 'servc',
  });
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
  t.ok(BTCUSD!.quality!.newestInputAgeNs >= 0n);
  t.match(DYDXUSD, { decimal: '2', verdict: 'verified', quality: { publishers: 1 } });
  t.equal(AAPL, undefined, 'an asset without a price is left out');
  t.ok(BTCUSD!.checks.some(({ name }) => name === 'publisher_merkle_root'));
  t.match(BTCUSD!.text, new RegExp(`"timestamp":${BTCUSD!.timestampNs}\\b`), 'the text keeps every digit');
  const second = Number(BTCUSD!.timestampNs / 1_000_000_000n);
  t.equal((await client.recent(['BTCUSD'], second))['BTCUSD']!.price, units(61000));
  const late = createClient({
    urls: service.url,
    token: TOKEN,
    signers: 'unchecked',
    fetch: (url, init) => fetch(url.replace(/timestamp=\d+&/, '').replace('/recent', '/latest'), init),
  });
  const { timestampNs } = (await late.recent(['BTCUSD'], second + 60))['BTCUSD']!;
  const earlier = late.recent(['BTCUSD'], Number(timestampNs / 1_000_000_000n) - 1);
  await t.rejects(earlier, { name: 'UnverifiedError', message: /signed after the requested time/ });
  const candles = await client.candles('BTCUSD', { resolution: '1', from: second - 60, to: second + 60 });
  t.match(candles, [{ time: second - (second % 60), open: 61000, high: 61000, low: 61000, close: 61000 }]);
  t.match(await client.marketStatus('AAPL'), { status: String, next: String, changesAt: Number });
  t.same(await client.assets(), SYMBOLS);
  await t.rejects(client.latest(['XYZ']), RefusedError);
  await t.rejects(client.marketStatus('BTCUSD'), { name: 'RefusedError', status: 400 });

  const unchecked = createClient({ urls: service.url, token: TOKEN, signers: 'unchecked' });
  t.match(await unchecked.latest(['BTCUSD']), { BTCUSD: { verdict: 'recovered' } });
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
    t.equal(publisher.publicKey, publisherSigner(1, signatureType).publicKey);
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
    await t.rejects(publisher.publish({ [symbol]: 61000.5 as never }), {
      name: 'TypeError',
      message: `the price of ${symbol} must be decimal text or a bigint, not a number`,
    });
    await publisher.close();
    t.match(await publisher.publish({ [symbol]: '1' }), { [symbol]: { status: 'failed', reason: 'closed' } });
  }
  t.throws(() => client.publisher({ key: 'xyz', oracleId: 'tests' }), RangeError);
  t.throws(() => client.publisher({ key, oracleId: 'long oracle' }), RangeError);
  await client.close();
});

/** Creates a client whose sockets, like a browser's, cannot send headers but only subprotocols. */
function browserClient(options: Partial<ClientOptions> & { readonly urls: string }): {
  readonly client: Client;
  readonly upgrades: { readonly url: string; readonly protocols: readonly string[] }[];
} {
  const upgrades: { url: string; protocols: readonly string[] }[] = [];
  const client = new Client(
    { token: TOKEN, signers: 'unchecked', ...options },
    {
      ...NODE,
      sendsHeaders: false,
      openSocket(url, headers, protocols = []) {
        if (Object.keys(headers).length > 0) throw new Error('a browser sends no headers');
        upgrades.push({ url, protocols });
        return new WebSocket(url, [...protocols]);
      },
    },
  );
  return { client, upgrades };
}

test('each connection has a ticket of its own, and no address carries a secret', async (t) => {
  const service = await startTestService(t);
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(1) });
  const { client, upgrades } = browserClient({ urls: service.url });
  for (let i = 0; i < 2; i += 1) {
    const { value } = await client.stream(['BTCUSD'], { channel: '20ms' }).next();
    t.equal(value!.decimal, '1');
  }
  const tickets = upgrades.map(({ url, protocols }) => {
    t.notMatch(url, /ticket|token/);
    t.equal(protocols.length, 2);
    t.equal(protocols[0], 'tickseal.v1');
    return protocols[1];
  });
  t.equal(new Set(tickets).size, 2);
  t.throws(() => client.publisher({ key: '1', oracleId: 'tests' }), TypeError);
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
  let last = 0n;
  for await (const tick of client.stream(['BTCUSD', 'AAPL'], {
    channel: '100ms',
    attributes: ['ms', 'quality'],
  })) {
    if (tick.symbol === 'BTCUSD') {
      t.ok(tick.timestampNs > last, 'times grow');
      last = tick.timestampNs;
    }
    seen.set(tick.symbol, tick);
    if (seen.size === 2) break;
  }
  const btc = seen.get('BTCUSD')!;
  t.equal(btc.decimal, '61000.5');
  t.equal(btc.price, 61_000_500_000_000_000_000_000n);
  t.match(btc, { signer: service.evmAddress, verdict: 'verified', status: undefined, url: service.url });
  t.ok(btc.ageMs >= 0 && btc.ageMs < 300_000, `${btc.ageMs} ms old`);
  t.match(btc.attributes, { marketStatus: null, inputAgeMs: Number, publishers: 1, spreadPpm: 0 });
  t.match(seen.get('AAPL')!.status, /^(?:closed|regular hours|extended hours|after hours)$/);
  t.same(states, [{ url: service.url, state: 'open', reason: '' }]);
  t.same(errors, []);
  await client.close();
});
