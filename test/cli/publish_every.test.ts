import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Test, test } from 'tap';
import { LAST_PRICES_MAX, LastPrices } from '../../src/cli/last_prices.js';
import { registerPublish } from '../../src/cli/publish_command.js';
import { createPriceSigner } from '../../src/client/node.js';
import { type PriceUpdate, parseSecretKey } from '../../src/client/sign/sign_price.js';
import { parseExactJson } from '../../src/client/verify/exact_json.js';
import { verifySignedPrice } from '../../src/client/verify/verify_signed_price.js';
import { type ContractServer, startContractServer, TOKEN } from '../client/contract_server.js';
import { runCommand } from './run_command.js';

const KEY = '8b558d5fc31eb64bb51d44b4b28658180e96764d5d5ac68e6d124f86f576d9de';
const KEY_FOLDER = mkdtempSync(join(tmpdir(), 'tickseal-publish-every-'));
const KEY_FILE = join(KEY_FOLDER, 'evm.hex');
writeFileSync(KEY_FILE, KEY, { mode: 0o600 });
process.once('exit', () => rmSync(KEY_FOLDER, { recursive: true }));
// The token is set here, because a token in an argument causes a warning.
process.env['TICKSEAL_TOKEN'] = TOKEN;
const POLL_MS = 5;
const WAIT_MS_MAX = 60_000;

test('the last price of each asset is signed again while standard input is open', async (t) => {
  const server = await startServer(t);
  const again = (symbols: readonly string[]) =>
    messagesOf(server).filter((updates) => symbols.every((symbol) => updates[symbol]?.trigger === 'clock'));
  async function* stdin() {
    yield '{"asset":"BTCUSD","price":"1","timestamp":1000000007,"trigger":"delta","metadata":{"venue":"x"}}\n';
    yield '{"asset":"ETHUSD","price":"2"}\n';
    await until(() => again(['BTCUSD', 'ETHUSD']).length >= 3);
    yield '{"asset":"BTCUSD","price":"3"}\n';
    await until(() =>
      again(['BTCUSD']).some((updates) => updates['BTCUSD']!.signed_price.price === `3${'0'.repeat(18)}`),
    );
  }
  const { stdout, stderr, exitCode } = await publish(server, ['--every', '10ms'], stdin());
  t.same([stderr, exitCode], ['', 0]);
  t.equal(stdout.length, server.received.length, 'every message is answered');
  const first = messagesOf(server)[0]!['BTCUSD']!;
  t.match(first, {
    trigger: 'delta',
    signed_price: { timestamped_signature: { timestamp: 1_000_000_007n } },
  });
  const updates = again(['BTCUSD']).map(({ BTCUSD }) => BTCUSD!);
  const times = updates.map(({ signed_price }) => signed_price.timestamped_signature.timestamp);
  t.ok(
    times.every((time, i) => time > (times[i - 1] ?? BigInt(Date.now() - WAIT_MS_MAX) * 1_000_000n)),
    'times rise',
  );
  for (const { signed_price } of updates.slice(0, 3)) {
    t.match(signed_price, { price: `1${'0'.repeat(18)}`, metadata: { venue: 'x' } });
    const { verdict } = verifySignedPrice(signed_price, {
      assetId: 'BTCUSD',
      signers: [signed_price.publisher_key],
    });
    t.equal(verdict, 'verified');
  }
});

test('nothing is signed while there is no connection, and all again after it', async (t) => {
  const server = await startServer(t);
  const running = publish(server, ['--every', '10ms', 'BTCUSD=1']);
  await until(() => server.received.length >= 2);
  for (const socket of server.sockets) socket.terminate();
  await until(() => server.paths.length === 2);
  const { length } = server.received;
  await until(() => server.received.length >= length + 2);
  process.emit('SIGTERM', 'SIGTERM');
  const { stdout, stderr } = await running;
  t.match(stderr, /^publish: .*closed with 1006\n$/);
  t.notMatch(stdout.join(), 'there is no connection');
});

test('an interval is a duration of whole milliseconds', async (t) => {
  for (const text of ['500', '0ms', '10us', '1500us', '2d', '1.5s', '-1s', '']) {
    const args = ['publish', '--every', text, 'BTCUSD=1'];
    t.match(
      await runCommand(registerPublish, args),
      { stderr: /expected whole milliseconds/, exitCode: 1 },
      text,
    );
  }
});

test('last prices are bounded, and their messages too', async (t) => {
  const secretKey = parseSecretKey(KEY)!;
  const signer = createPriceSigner({ signatureType: 'evm', secretKey, oracleId: 'tests' });
  const last = new LastPrices();
  const keep = (i: number) => last.keep({ symbol: `A${i}`, price: BigInt(i), timestampNs: 1n });
  for (let i = 0; i < 250; i++) keep(i);
  const messages = last.sign(signer, 5n);
  t.same(
    messages.map(({ length }) => length),
    [100, 100, 50],
  );
  t.same(
    messages.flat().map(({ asset_id }) => asset_id),
    Array.from({ length: 250 }, (_, i) => `A${i}`),
  );
  for (let i = 250; i < LAST_PRICES_MAX; i++) keep(i);
  t.equal(keep(LAST_PRICES_MAX), false);
  t.equal(keep(7), true, 'an asset that is known');
});

async function startServer(t: Test): Promise<ContractServer> {
  const server = await startContractServer();
  t.teardown(() => server.close());
  return server;
}

function publish(
  server: ContractServer,
  args: readonly string[],
  stdin: AsyncIterable<string> | string[] = [],
) {
  const connection = ['publish', '--url', server.url, '--key', KEY_FILE];
  return runCommand(registerPublish, [...connection, ...args], { stdin });
}

function messagesOf(server: ContractServer): Record<string, PriceUpdate>[] {
  return server.received.map((text) => (parseExactJson(text) as { data: Record<string, PriceUpdate> }).data);
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let waitedMs = 0; !isTrue(); waitedMs += POLL_MS) {
    if (waitedMs > WAIT_MS_MAX) throw new Error('it did not come true');
    await setTimeout(POLL_MS);
  }
}
