import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { verifyLogged } from '../../src/client/verify/logged_price.js';
import { systemClock } from '../../src/clock/clock.js';
import { verifyByNode } from '../../src/tlog/ed25519_key.js';
import { type LogPolicy, parsePolicy } from '../../src/tlog/log_policy.js';
import type { LoggedPrice } from '../../src/tlog/price_proof.js';
import { FakeClock } from '../clock/fake_clock.js';
import { get, publisherSigner, SERVICE_KEYS, startTestService, type TestService } from './harness.js';
import { type Aggregate, latestWhen, openPublisher, refusalOf, UNIT } from './publishing.js';

const ORIGIN = 'prices.example.com/tlog';
const KEYS = { ...SERVICE_KEYS, log: Buffer.alloc(32, 0x33) };
const SECTIONS = {
  keys: { evm: { file: 'unused' }, stark: { file: 'unused' }, log: { file: 'unused' } },
  log: { origin: ORIGIN, batch: '100ms', checkpoint: '200ms' },
  ingest: { max_past: '600s', max_future: '600s' },
};

/** Publishes a price, and returns the aggregate of it. */
async function priceOf(
  service: TestService,
  symbol: string,
  type: 'evm' | 'stark',
  price: bigint,
  nowNs: bigint,
) {
  const update = publisherSigner(1, type).sign({ symbol, price: price * UNIT, timestampNs: nowNs });
  const socket = await openPublisher(service, type);
  const refusal = await refusalOf(socket, update);
  if (refusal !== undefined) throw new Error(refusal);
  await socket.close();
  return latestWhen(service, symbol, (found) => found.price === `${price * UNIT}`);
}

/** Returns the place of an aggregate in the log, once a checkpoint covers it. */
async function placeOf(service: TestService, aggregate: Aggregate, policy: LogPolicy): Promise<LoggedPrice> {
  const { timestamp, msg_hash: msgHash } = aggregate.service_signed_price.timestamped_signature;
  const query = `asset=${aggregate.asset_id}&timestamp=${timestamp}`;
  const proof = await eventually(async () => {
    const response = await fetch(`${service.url}/v1/prices/proof?${query}`);
    const text = await response.text();
    if (response.status === 503 || response.status === 429 || text.includes('no public log'))
      return undefined;
    if (response.status !== 200) throw new Error(`${response.status} ${text}`);
    if (response.headers.get('Access-Control-Allow-Origin') !== '*') throw new Error('not for every origin');
    return text;
  });
  const price = {
    signatureType: aggregate.signature_type,
    signer: BigInt(aggregate.service_signed_price.public_key),
    symbol: aggregate.asset_id,
    timeNs: BigInt(timestamp),
    msgHash: BigInt(msgHash),
  };
  return verifyLogged(price, proof, { policy, verifyEd25519: verifyByNode });
}

/** Returns the policy that a service shows. */
async function policyOf(service: TestService): Promise<LogPolicy> {
  const { log } = (await (await fetch(`${service.url}/v1/signers`)).json()) as { log: { policy: string } };
  return parsePolicy(log.policy);
}

test('every signed price has a proof, over restarts and steps of the clock', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-log-'));
  const clock = new FakeClock(systemClock());
  let service = await startTestService(SECTIONS, { dir, clock, keys: KEYS });
  t.teardown(async () => {
    await service.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  const policy = await policyOf(service);
  const shown: Aggregate[] = [];
  shown.push(await priceOf(service, 'BTCUSD', 'evm', 100n, clock.nowNs()));
  shown.push(await priceOf(service, 'DYDXUSD', 'stark', 3n, clock.nowNs()));
  clock.advance(-60_000_000_000n);
  shown.push(await priceOf(service, 'BTCUSD', 'evm', 110n, clock.nowNs() + 60_000_000_000n));
  const places: LoggedPrice[] = [];
  for (const aggregate of shown) places.push(await placeOf(service, aggregate, policy));
  t.ok(places.every(({ origin }) => origin === ORIGIN));
  await service.stop();
  service = await startTestService(SECTIONS, { dir, clock, keys: KEYS });
  shown.push(await priceOf(service, 'BTCUSD', 'evm', 120n, clock.nowNs() + 60_000_000_000n));
  for (const [i, aggregate] of shown.entries()) {
    const { batch, size } = await placeOf(service, aggregate, policy);
    t.equal(batch.batch, places[i]?.batch.batch ?? batch.batch, 'the place stays');
    if (i === 3) t.ok(size > places.at(-1)!.size, 'and the log goes on');
  }
});

test('the files of the log are for everybody, and nothing beside them', async (t) => {
  const service = await startTestService(SECTIONS, { keys: KEYS });
  t.teardown(() => service.stop());
  const file = (path: string, init = {}) => fetch(`${service.url}/tlog/${path}`, init);
  const checkpoint = await eventually(async () => {
    const response = await file('checkpoint');
    return response.status === 200 ? response : undefined;
  });
  t.equal(checkpoint.headers.get('Content-Type'), 'text/plain; charset=utf-8');
  t.equal(checkpoint.headers.get('Access-Control-Allow-Origin'), '*');
  t.equal(checkpoint.headers.get('Cache-Control'), 'public, max-age=1');
  const size = Number((await checkpoint.text()).split('\n')[1]);
  for (const path of [`tile/0/000.p/${size}`, `tile/entries/000.p/${size}`, 'batch/000']) {
    const response = await file(path);
    t.equal(response.status, 200, path);
    t.equal(response.headers.get('Content-Type'), 'application/octet-stream');
    t.match(response.headers.get('Cache-Control'), /immutable/);
    t.equal(response.headers.get('Access-Control-Allow-Origin'), '*');
  }
  t.equal((await file('checkpoint', { method: 'HEAD' })).status, 200);
  t.equal((await file('checkpoint', { method: 'PUT' })).status, 405);
  const others = [
    '',
    'tile/0/001',
    'tile/0/000.p/0',
    'tile/0/000.p/999',
    'batch/1',
    'batch/x000/000',
    '%2e%2e/store/data.mdb',
    '../store/data.mdb',
    '..%2ftlog-state/signed',
  ];
  for (const path of others) t.equal((await file(path)).status, 404, path);
  const absent = await fetch(`${service.url}/v1/prices/proof?asset=BTCUSD&timestamp=5`);
  t.equal(absent.status, 404);
  t.match(await absent.json(), { error: 'the public log begins after this time' });
});

test('a service without a key has no log', async (t) => {
  const service = await startTestService();
  t.teardown(() => service.stop());
  t.equal((await fetch(`${service.url}/tlog/checkpoint`)).status, 404);
  t.equal((await fetch(`${service.url}/v1/prices/proof?asset=BTCUSD&timestamp=5`)).status, 404);
  t.notMatch(await (await get(`${service.url}/v1/signers`)).json(), { log: {} });
});
