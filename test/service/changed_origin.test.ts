import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { registerLog } from '../../src/cli/log_command.js';
import { createClient, type LoggedEvent, ProtocolError } from '../../src/client/node.js';
import { checksumAddress, evmAddress } from '../../src/client/verify/evm_signatures.js';
import { Ed25519Key } from '../../src/tlog/ed25519_key.js';
import { formatVerifierKey } from '../../src/tlog/verifier_key.js';
import { runCommand } from '../cli/run_command.js';
import { SERVICE_KEYS, startTestService, type TestService, TOKEN } from './harness.js';
import { placeOf, policyOf, priceOf } from './logged_prices.js';
import type { Aggregate } from './publishing.js';

const KEYS = { ...SERVICE_KEYS, log: Buffer.alloc(32, 0x33) };
const SIGNER = checksumAddress(evmAddress(KEYS.evm));
const NEW_KEY = Buffer.alloc(32, 0x44);
const ADDRESS = 'http://prices.example.com';
const OLD = 'prices.example.com/tlog';
const NEW = 'prices.example.com/tlog2';

function sectionsOf(origin: string) {
  return {
    keys: { evm: { file: 'unused' }, stark: { file: 'unused' }, log: { file: 'unused' } },
    log: { origin, batch: '100ms', checkpoint: '200ms' },
  };
}

async function policyTextOf({ url }: TestService): Promise<string> {
  const { log } = (await (await fetch(`${url}/v1/signers`)).json()) as { log: { policy: string } };
  return log.policy;
}

/** Follows the log of a service whose address does not change, while the services behind the address do. */
function followLog(t: Test, policy: string, service: () => TestService) {
  const client = createClient({
    urls: ADDRESS,
    token: TOKEN,
    signers: [SIGNER],
    oracleId: 'tests',
    log: { policy, sample: 1 },
    fetch: (url, init) => fetch(url.replace(ADDRESS, service().url), init),
  });
  t.teardown(() => client.close());
  const logged: LoggedEvent[] = [];
  const errors: Error[] = [];
  client.on('logged', (event) => logged.push(event));
  client.on('error', (error) => errors.push(error));
  return { client, logged, errors };
}

test('a log that goes on under another origin is said, and is neither accepted nor accused', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-origin-'));
  let service = await startTestService(sectionsOf(OLD), { dir, keys: KEYS });
  t.teardown(async () => {
    await service.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  const now = () => BigInt(Date.now()) * 1_000_000n;
  const oldPolicy = await policyTextOf(service);
  const newLine = `log ${formatVerifierKey(new Ed25519Key(NEW_KEY).logKey(NEW))}`;
  const before = await priceOf(service, 'BTCUSD', 'evm', 100n, now());
  await placeOf(service, before, await policyOf(service));
  const reader = followLog(t, oldPolicy, () => service);
  const readerOfBoth = followLog(t, `${newLine}\n${oldPolicy}`, () => service);
  for (const { client, logged } of [reader, readerOfBoth]) {
    await client.latest(['BTCUSD']);
    await eventually(async () => logged.length > 0 || undefined);
  }
  await service.stop();
  const ended = await runCommand(registerLog, [
    'log',
    'new-origin',
    join(dir, 'store'),
    NEW,
    '--even-if-healthy',
  ]);
  t.equal(ended.exitCode, 0, ended.stderr);
  service = await startTestService(sectionsOf(NEW), { dir, keys: { ...KEYS, log: NEW_KEY } });
  const after = await priceOf(service, 'BTCUSD', 'evm', 110n, now());
  await placeOf(service, after, await policyOf(service));

  await t.test('by the SDK, at once, for prices of both times', async (t) => {
    for (const timeNs of [timeOf(before), timeOf(after)]) await reader.client.at(['BTCUSD'], timeNs);
    await eventually(async () => reader.errors.length >= 2 || undefined);
    for (const error of reader.errors) {
      t.ok(error instanceof ProtocolError, error.name);
      t.match(
        error.message,
        /has the log prices\.example\.com\/tlog2, and the policy trusts prices\.example\.com\/tlog: .*new origin/,
      );
    }
    t.ok(reader.logged.every(({ origin }) => origin === OLD));
  });

  await t.test('by an SDK whose policy names both logs, once', async (t) => {
    const { client, logged, errors } = readerOfBoth;
    for (let i = 0; i < 3; i += 1) await client.at(['BTCUSD'], timeOf(after));
    await eventually(async () => logged.filter(({ origin }) => origin === NEW).length >= 3 || undefined);
    t.same(
      errors.map(({ name, message }) => `${name}: ${message}`),
      [
        `ProtocolError: ${ADDRESS}: the service now has the log ${NEW}, and had ${OLD} before: that log does not go on. Ask the operator why`,
      ],
    );
  });
});

function timeOf({ service_signed_price: price }: Aggregate): bigint {
  return BigInt(price.timestamped_signature.timestamp);
}
