import { createHash } from 'node:crypto';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { verifyAggregate } from '../../src/client/index.js';
import { keccak256 } from '../../src/crypto/keccak.js';
import { FakeClock } from '../clock/fake_clock.js';
import { START_NS } from '../model/sample.js';
import { Feed, units } from './feed.js';
import { ask, startTestService } from './harness.js';

// Tests of the market status, and of the answers that the configuration determines.

/** Monday 2026-03-02 14:00:00 UTC, which is 9:00 in New York. */
const START_S = Number(START_NS / 1_000_000_000n);

const MARKETS = [
  { id: 1, symbol: 'BTCUSD' },
  { id: 2, symbol: 'AAPL', calendar: 'us_equities' },
  { id: 3, symbol: 'EURUSD', calendar: 'forex' },
  { id: 4, symbol: 'XAUUSD', calendar: 'metals', signature_type: 'stark' },
];

test('market status has three values in the shape of an aggregate, and nothing else', async (t) => {
  const clock = new FakeClock(START_NS + 1n);
  const service = await startTestService(t, { assets: MARKETS }, { clock });
  const value = (id: string, price: number) => ({
    [id]: {
      timestamp: '#',
      asset_id: id,
      signature_type: 'evm',
      trigger: 'clock',
      price: String(price),
      service_signed_price: {
        encoded_asset_id: Buffer.from(id).toString('base64'),
        price: String(price),
        timestamped_signature: { timestamp: '#' },
      },
      signed_prices: [],
    },
  });
  const { status, text } = await ask(service, '/v1/market_status?asset_id=AAPL');
  t.equal(status, 200);
  t.same(JSON.parse(text.replaceAll(`:${START_NS + 1n}`, ':"#"')), {
    data: {
      ...value('AAPL_CURRENT_STATUS', 2),
      ...value('AAPL_NEXT_STATUS', 1),
      ...value('AAPL_CHANGE_TIME', START_S + 1800),
    },
  });
  const gold = await ask(service, '/v1/market_status?asset_id=XAUUSD');
  t.match(gold.data, { XAUUSD_CURRENT_STATUS: { price: '1', signature_type: 'stark' } });
});

test('taxonomy, algorithms and pushed assets are what the configuration says', async (t) => {
  const pushed = { ethereum: { mainnet: { Z: { delta: 0.5, staleness: 3600 } }, testnet: {} } };
  const service = await startTestService(t, {
    service: { taxonomy_id: 65_535 },
    assets: [
      { id: 65_535, symbol: 'Z', name: 'Zed', class: 'letter' },
      { ...MARKETS[3], aggregation: 'weighted average' },
      MARKETS[1],
    ],
    pushed_assets: pushed,
  });
  const entry = { signature_type: 'evm', aggregation: 'median' };
  const { statement, ...answer } = (await ask(service, '/v1/taxonomy')).data;
  t.match(statement, /^0x[0-9a-f]{222}$/);
  t.same(answer, {
    taxonomy_id: 65_535,
    oracle_id: 'servc',
    signers: [
      { address: service.evmAddress, signature_type: 'evm', role: 'aggregate' },
      { address: service.signerOf('stark'), signature_type: 'stark', role: 'aggregate' },
      { address: service.evmAddress, signature_type: 'evm', role: 'stream' },
    ],
    assets: [
      { ...entry, asset_id: 65_535, name: 'Z', calendar: 'none', full_name: 'Zed', class: 'letter' },
      {
        asset_id: 4,
        name: 'XAUUSD',
        signature_type: 'stark',
        aggregation: 'weighted average',
        calendar: 'metals',
      },
      { ...entry, asset_id: 2, name: 'AAPL', calendar: 'us_equities' },
    ],
  });
  const algorithms = (await ask(service, '/v1/algorithms')).data;
  t.same(
    algorithms.map(({ type }: { type: string }) => type),
    ['median', 'average', 'weighted average', 'trimmed mean'],
  );
  for (const { definition, checksum } of algorithms)
    t.equal(createHash('sha256').update(definition).digest('hex'), checksum);
  t.same((await ask(service, '/v0/deployments/service_pushed_assets')).data, pushed);
  t.equal((await fetch(`${service.url}/v0/deployments/service_pushed_assets`)).status, 401);
  const empty = await startTestService(t);
  t.same((await ask(empty, '/v0/deployments/service_pushed_assets')).data, {});
  t.same((await ask(empty, '/v1/deployments/evm')).data, []);
});

test('another service name stands in the identifiers, and asset IDs may be hashed', async (t) => {
  const service = await startTestService(t, {
    service: { name: 'acme', oracle_id: 'acme!', encoded_asset_id: 'keccak256' },
    assets: [...MARKETS, { id: 9, symbol: 'DYDXUSD', signature_type: 'stark' }],
  });
  const encoded = (text: string) => `0x${Buffer.from(keccak256(Buffer.from(text))).toString('hex')}`;
  await (await Feed.open(service)).accept({ symbol: 'BTCUSD', price: units(1) });
  await (await Feed.open(service, { type: 'stark' })).accept({ symbol: 'DYDXUSD', price: units(2) });
  const { text, data } = await eventually(async () => {
    const answer = await ask(service, '/v1/prices/latest?assets=BTCUSD,DYDXUSD');
    return Object.keys(answer.data).length === 2 && answer;
  });
  t.match(data, {
    BTCUSD: { acme_signed_price: { price: String(units(1)), encoded_asset_id: encoded('BTCUSD') } },
    DYDXUSD: { acme_signed_price: { price: String(units(2)), encoded_asset_id: encoded('DYDXUSD') } },
  });
  t.notMatch(text, 'service_signed_price');
  t.match(
    verifyAggregate(text, { signers: 'unchecked', oracleId: 'acme!' }),
    [{ verdict: 'recovered' }, { verdict: 'recovered' }],
    "the service's name need not be known",
  );
  t.match((await ask(service, '/v1/market_status?asset_id=AAPL')).data, {
    AAPL_NEXT_STATUS: { acme_signed_price: { encoded_asset_id: encoded('AAPL_NEXT_STATUS') } },
  });
  t.match(await ask(service, '/v0/deployments/acme_pushed_assets'), { status: 200 });
  t.match(await ask(service, '/v0/deployments/service_pushed_assets'), { status: 404 });
});

test('a service that is alone is the only node', async (t) => {
  const service = await startTestService(t);
  const nodes = [{ node: 0, name: 'solo', role: 'leader' }];
  t.same((await ask(service, '/v1/nodes')).data, { self: 0, nodes });
  const { data } = await ask(service, '/v1/signers');
  t.same(
    data.map(({ role, node }: Record<string, unknown>) => [role, node]),
    [
      ['aggregate', 0],
      ['aggregate', 0],
      ['stream', 0],
    ],
  );
});
