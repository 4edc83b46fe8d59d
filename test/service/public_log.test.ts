import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { registerLog } from '../../src/cli/log_command.js';
import { createClient, EquivocationError, type LoggedEvent } from '../../src/client/node.js';
import { parseEvidence } from '../../src/client/verify/evidence_file.js';
import { verifyEvidence } from '../../src/client/verify/log_evidence.js';
import { systemClock } from '../../src/clock/clock.js';
import { parsePolicy } from '../../src/tlog/log_policy.js';
import type { LoggedPrice } from '../../src/tlog/price_proof.js';
import { runCommand } from '../cli/run_command.js';
import { FakeClock } from '../clock/fake_clock.js';
import { signedPrice } from '../publiclog/witness/audited_log.js';
import { SERVICE_KEYS, startTestService, TOKEN } from './harness.js';
import { placeOf, policyOf, priceOf } from './logged_prices.js';
import { type Aggregate, UNIT } from './publishing.js';

const ORIGIN = 'prices.example.com/tlog';
const KEYS = { ...SERVICE_KEYS, log: Buffer.alloc(32, 0x33) };
const SECTIONS = {
  keys: { evm: { file: 'unused' }, stark: { file: 'unused' }, log: { file: 'unused' } },
  log: { origin: ORIGIN, batch: '100ms', checkpoint: '200ms' },
  ingest: { max_past: '600s', max_future: '600s' },
};

test('every signed price has a proof, over restarts and steps of the clock', async (t) => {
  const dir = t.testdir();
  const clock = new FakeClock(systemClock());
  let service = await startTestService(t, SECTIONS, { dir, clock, keys: KEYS });
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
  service = await startTestService(t, SECTIONS, { dir, clock, keys: KEYS });
  shown.push(await priceOf(service, 'BTCUSD', 'evm', 120n, clock.nowNs() + 60_000_000_000n));
  for (const [i, aggregate] of shown.entries()) {
    const { batch, size } = await placeOf(service, aggregate, policy);
    t.equal(batch.batch, places[i]?.batch.batch ?? batch.batch, 'the place stays');
    if (i === 3) t.ok(size > places.at(-1)!.size, 'and the log goes on');
  }
});

test('a service that lacks the last signed checkpoint signs no other, and prices go on', async (t) => {
  const dir = t.testdir();
  const data = join(dir, 'store');
  let service = await startTestService(t, SECTIONS, { dir, keys: KEYS });
  await eventually(async () => (await fetch(`${service.url}/tlog/checkpoint`)).status === 200 || undefined);
  const served = async () => (await fetch(`${service.url}/tlog/checkpoint`)).text();
  await service.stop();
  const restart = async () => {
    service = await startTestService(t, SECTIONS, { dir, keys: KEYS });
    return (await fetch(`${service.adminUrl}/readyz`)).text();
  };
  rmSync(join(data, 'tlog-state'), { recursive: true });
  t.match(await restart(), /the public log has stopped: .*signed is missing/);
  const last = await served();
  await priceOf(service, 'BTCUSD', 'evm', 100n, BigInt(Date.now()) * 1_000_000n);
  t.match(await (await fetch(`${service.adminUrl}/metrics`)).text(), /^tickseal_tlog_stopped 1$/m);
  t.equal(await served(), last, 'the files of the log are served as they were');
  await service.stop();
  // A backup with only the data file still records that the log has signed.
  rmSync(join(data, 'tlog'), { recursive: true });
  t.match(await restart(), /the data folder notes a signed checkpoint/);

  // Only the operator's command creates a new log.
  const next = 'prices.example.com/tlog2';
  const newOrigin = () => runCommand(registerLog, ['log', 'new-origin', data, next]);
  t.match(await newOrigin(), { exitCode: 1, stderr: /a service runs on/ });
  await service.stop();
  const ended = await newOrigin();
  t.equal(ended.exitCode, 0, ended.stderr);
  t.match(ended.stdout.join(''), /last signed checkpoint: lost/);
  t.match(await restart(), /this node signed checkpoints of prices\.example\.com\/tlog2, not/);
  await service.stop();
  const changed = { ...SECTIONS, log: { ...SECTIONS.log, origin: next } };
  service = await startTestService(t, changed, { dir, keys: KEYS });
  const shown = await priceOf(service, 'BTCUSD', 'evm', 120n, BigInt(Date.now()) * 1_000_000n);
  t.equal((await placeOf(service, shown, await policyOf(service))).origin, next, 'the new log goes on');
});

test('the files of the log are for everybody, and nothing beside them', async (t) => {
  const service = await startTestService(t, SECTIONS, { keys: KEYS });
  const file = (path: string, init = {}) => fetch(`${service.url}/tlog/${path}`, init);
  const checkpoint = await eventually(async () => {
    const response = await file('checkpoint');
    return response.status === 200 ? response : undefined;
  });
  t.equal(checkpoint.headers.get('Access-Control-Allow-Origin'), '*');
  t.equal(checkpoint.headers.get('Cache-Control'), 'public, max-age=1');
  const size = Number((await checkpoint.text()).split('\n')[1]);
  for (const path of [`tile/0/000.p/${size}`, `tile/entries/000.p/${size}`, 'batch/000']) {
    const response = await file(path);
    t.equal(response.status, 200, path);
    t.match(response.headers.get('Cache-Control'), /immutable/);
    t.equal(response.headers.get('Access-Control-Allow-Origin'), '*');
  }
  const others = ['tile/0/000.p/0', 'batch/x000/000', '../store/format', '..%2ftlog-state/signed'];
  for (const path of others) t.equal((await file(path)).status, 404, path);
  const absent = await fetch(`${service.url}/v1/prices/proof?asset=BTCUSD&timestamp=5`);
  t.equal(absent.status, 404);
  t.match(await absent.json(), { error: 'the public log begins after this time' });
});

test('a client finds a sample of its prices in the log, and proves a value that the log denies', async (t) => {
  const service = await startTestService(t, SECTIONS, { keys: KEYS });
  const { log } = (await (await fetch(`${service.url}/v1/signers`)).json()) as { log: { policy: string } };
  const signers = [service.evmAddress];
  let forged: string | undefined;
  const client = createClient({
    ...{ urls: service.url, token: TOKEN, signers, oracleId: 'tests' },
    log: { policy: log.policy, sample: 1 },
    async fetch(url, init) {
      // A service that signs two values shows the second value only to this reader.
      if (forged === undefined || !url.includes('/v1/prices/at')) return fetch(url, init);
      return new Response(`{"data":{"BTCUSD":${forged}}}`);
    },
  });
  t.teardown(() => client.close());
  const logged: LoggedEvent[] = [];
  const errors: Error[] = [];
  client.on('logged', (event) => logged.push(event));
  client.on('error', (error) => errors.push(error));
  await priceOf(service, 'BTCUSD', 'evm', 100n, BigInt(Date.now()) * 1_000_000n);
  const { BTCUSD: shown } = await client.latest(['BTCUSD']);
  const signedNs = shown!.timestampNs;
  await eventually(() => logged.length >= 1 || errors.length > 0);
  t.same(errors, []);
  t.match(logged[0], { symbol: 'BTCUSD', origin: ORIGIN, cosigners: [], timestampNs: signedNs });
  forged = signedPrice(signedNs, 99n * UNIT, 'BTCUSD', KEYS.evm).replace(',"signed_prices":[]', '');
  t.equal((await client.at(['BTCUSD'], signedNs))['BTCUSD']?.price, 99n * UNIT);
  // The client itself remembers the first value, and the log has it too.
  await eventually(() => errors.length >= 2);
  const policy = parsePolicy(log.policy);
  for (const error of errors) {
    if (!(error instanceof EquivocationError)) throw error;
    const { verdict } = await verifyEvidence(parseEvidence(error.evidence), { policy, signers });
    t.equal(verdict, 'verified', 'a third party needs the evidence alone');
  }
});
