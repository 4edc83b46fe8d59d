import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import {
  type ClientOptions,
  createClient,
  type ReportEvent,
  type Taxonomy,
  type Tick,
  UnverifiedError,
  verifyPayload,
} from '../../src/client/node.js';
import { Feed, units } from './feed.js';
import { SERVICE_KEYS, startTestService, TOKEN } from './harness.js';

// Tests of further client options against a running service: events, status and other data beside ticks.

const ASSETS = [
  { id: 1, symbol: 'BTCUSD' },
  { id: 2, symbol: 'BTCUSD', signature_type: 'stark' },
  { id: 3, symbol: 'ETHUSD' },
];

async function openClient(service: { readonly url: string }, options: Partial<ClientOptions> = {}) {
  const client = createClient({ urls: service.url, token: TOKEN, signers: 'unchecked', ...options });
  const errors: Error[] = [];
  client.on('error', (error) => errors.push(error));
  return { client, errors };
}

test('a stream of both types names each asset with its type, and says what is subscribed', async (t) => {
  const service = await startTestService({ assets: ASSETS });
  t.teardown(() => service.stop());
  await (await Feed.open(service)).accept({ symbol: 'BTCUSD', price: units(1) });
  await (await Feed.open(service, { type: 'stark' })).accept({ symbol: 'BTCUSD', price: units(2) });
  const { client, errors } = await openClient(service);
  const taxonomies: Taxonomy[] = [];
  client.on('taxonomy', ({ taxonomy, url }) => {
    t.equal(url, service.url);
    taxonomies.push(taxonomy);
  });
  const stream = client.stream([], { channel: '20ms', signatureType: 'both' });
  t.same(stream.subscribed, []);
  stream.add(['evm BTCUSD', 'stark BTCUSD', 'evm ETHUSD']);
  const prices = new Map<string, bigint>();
  for await (const { symbol, price } of stream) if (prices.set(symbol, price).size === 2) break;
  t.same(Object.fromEntries(prices), { 'evm BTCUSD': units(1), 'stark BTCUSD': units(2) });
  t.same(stream.subscribed, ['evm BTCUSD', 'stark BTCUSD', 'evm ETHUSD']);
  t.same(
    taxonomies[0]!.assets.map(({ id }) => id),
    [1, 2, 3],
    'told before the first tick',
  );
  t.same(errors, []);
  await client.close();
});

test('a function for signers that throws, or gives none, stops no stream', async (t) => {
  const service = await startTestService({ assets: ASSETS });
  t.teardown(() => service.stop());
  await (await Feed.open(service)).accept({ symbol: 'BTCUSD', price: units(1) });
  let calls = 0;
  const { client, errors } = await openClient(service, {
    signers() {
      calls += 1;
      if (calls === 1) throw new Error('the list is not there yet');
      return calls === 2 ? [] : [service.evmAddress!];
    },
  });
  for await (const { price, verdict } of client.stream(['BTCUSD'], { channel: '20ms' })) {
    t.same({ price, verdict }, { price: units(1), verdict: 'verified' });
    break;
  }
  t.match(
    errors.map(({ message }) => message),
    [/Error: the list is not there yet/, /RangeError: signers must name/],
  );
  await client.close();
});

test('each payload is reported before its ticks, and signers may change', async (t) => {
  const service = await startTestService({ assets: ASSETS });
  t.teardown(() => service.stop());
  await (await Feed.open(service)).accept({ symbol: 'BTCUSD', price: units(1) });
  let signers = [`0x${'1'.repeat(40)}`];
  const { client, errors } = await openClient(service, { signers: () => signers });
  const reports: ReportEvent[] = [];
  client.on('report', (event) => reports.push(event));
  const stream = client.stream(['BTCUSD'], { channel: '20ms' });
  const first = stream.next();
  await eventually(() => errors.length > 0);
  t.match(errors[0], { name: 'UnsignedMappingError', signer: service.evmAddress });
  t.same(reports, [], 'no ID has a symbol');
  await t.rejects(client.latest(['BTCUSD']), UnverifiedError);
  signers = [service.evmAddress];
  const tick = (await first).value as Tick;
  const { report, hex } = reports.find(({ report }) => report.verdict === 'verified')!;
  t.equal(report.payload!.timestampNs, tick.timestampNs);
  t.equal(verifyPayload(hex, { signers }).verdict, 'verified', 'the hex is the payload');
  t.match(await client.latest(['BTCUSD']), { BTCUSD: { verdict: 'verified' } });
  signers = [`0x${'1'.repeat(40)}`];
  await eventually(() => reports.at(-1)!.report.verdict === 'failed');
  t.match(reports.at(-1), { url: service.url, report: { signer: service.evmAddress } });
  t.type(errors.at(-1), UnverifiedError);
  service.reconfigure({ assets: ASSETS }, { ...SERVICE_KEYS, evm: Buffer.alloc(32, 0x22) });
  await eventually(() => reports.at(-1)!.report.signer !== service.evmAddress || undefined);
  await client.close();
});

test('a refused subscription is reported, and tried again', async (t) => {
  const limits = { subscriptions_per_connection: 1 };
  const service = await startTestService({ assets: ASSETS, limits });
  t.teardown(() => service.stop());
  await (await Feed.open(service)).accept({ symbol: 'BTCUSD', price: units(1) });
  const { client, errors } = await openClient(service);
  const stream = client.stream(['BTCUSD', 'ETHUSD'], { channel: '20ms' });
  const first = stream.next();
  await eventually(() => errors.length > 1);
  t.match(errors, [{ name: 'ProtocolError' }, { name: 'ProtocolError' }]);
  t.same(stream.subscribed, []);
  stream.remove(['ETHUSD']);
  t.match(await first, { value: { symbol: 'BTCUSD' } });
  t.same(stream.subscribed, ['BTCUSD']);
  await client.close();
});

test('requests go through the fetch that is given, those of the caller too', async (t) => {
  const service = await startTestService({ assets: ASSETS });
  t.teardown(() => service.stop());
  const asked: string[] = [];
  const { client } = await openClient(service, {
    fetch: (url, init) => {
      asked.push(url.slice(service.url.length));
      return fetch(url, init);
    },
  });
  t.match(JSON.parse(await client.get('/udf/quotes?symbols=BTCUSD')), { s: 'ok' });
  await client.get('/v1/nodes');
  t.same(asked, ['/udf/quotes?symbols=BTCUSD', '/v1/nodes']);
  await t.rejects(client.get('/nowhere'), { name: 'RefusedError', status: 404 });
  await client.close();
});
