import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { registerPublish } from '../../src/cli/publish_command.js';
import type { PriceUpdate } from '../../src/client/sign/sign_price.js';
import { parseExactJson } from '../../src/client/verify/exact_json.js';
import { verifySignedPrice } from '../../src/client/verify/verify_signed_price.js';
import { type ContractServer, startContractServer, TOKEN } from '../client/contract_server.js';
import { until } from '../sources/markets/manual_time.js';
import { type CommandInput, runCommand } from './run_command.js';

const KEY = '8b558d5fc31eb64bb51d44b4b28658180e96764d5d5ac68e6d124f86f576d9de';
const KEY_FOLDER = mkdtempSync(join(tmpdir(), 'tickseal-publish-'));
const KEY_FILE = join(KEY_FOLDER, 'evm.hex');
writeFileSync(KEY_FILE, KEY, { mode: 0o600 });
process.once('exit', () => rmSync(KEY_FOLDER, { recursive: true }));
// The token is set here, because a token in an argument causes a warning.
process.env['TICKSEAL_TOKEN'] = TOKEN;

interface Message {
  readonly trace_id: string;
  readonly data: Record<string, PriceUpdate>;
}

async function publish(args: readonly string[], input: CommandInput = {}) {
  const server = await startContractServer();
  server.rejects['ETHUSD'] = 'unknown asset';
  server.rejects['UNLISTED'] = 'publisher_key is not on the allow-list';
  const connection = ['publish', '--url', server.url];
  const result = await runCommand(registerPublish, [...connection, ...args], input);
  await server.close();
  const messages = server.received.map((text) => parseExactJson(text) as Message);
  return { ...result, ...server, messages };
}

test('prices given as arguments are signed, sent and answered', async (t) => {
  const { stdout, stderr, exitCode, messages, paths } = await publish([
    '--key',
    KEY_FILE,
    'BTCUSD=65000.5',
    'AAPL=-1',
  ]);
  t.same([stderr, exitCode], ['', 0]);
  t.same(paths, ['/evm/publish?ack=true']);
  t.match(
    stdout.map((line) => JSON.parse(line)),
    [
      { type: 'ack', trace_id: messages[0]!.trace_id, accepted: ['BTCUSD'], rejected: {} },
      { type: 'ack', accepted: ['AAPL'] },
    ],
  );
  const price = messages[0]!.data['BTCUSD']!.signed_price;
  t.equal(price.price, '65000500000000000000000');
  const { verdict } = verifySignedPrice(price, { assetId: 'BTCUSD', signers: [price.publisher_key] });
  t.equal(verdict, 'verified');
});

test('JSON lines are signed with their own fields', async (t) => {
  const dir = t.testdir();
  const keyFile = join(dir, 'stark.hex');
  writeFileSync(keyFile, '0x66253bdeb3c1a235cf4376611e3a14474e2c00fd2fb225f9a388faae7fb095a\n', {
    mode: 0o600,
  });
  const fields = '"asset":"DYDXUSD","price":3335950349880000000,"timestamp":1708940577123456789';
  const { exitCode, messages, paths } = await publish(
    ['--key', keyFile, '--type', 'stark', '--oracle-id', 'czowx', '--ack', 'durable', '--scaled'],
    { stdin: [`{${fields},"trigger":"delta","metadata":{"depth":0.10}}\n\n`] },
  );
  t.equal(exitCode, 0);
  t.same(paths, ['/stark/publish?ack=durable']);
  t.match(messages[0]!.data['DYDXUSD'], {
    oracle_id: 'czowx',
    trigger: 'delta',
    signed_price: {
      timestamped_signature: {
        timestamp: 1708940577123456789n,
        msg_hash: '0x7cc1cf795d076cfff8b5920adb2dcc0d13813ed4519220a36d693e6084abe1c',
      },
    },
  });
});

test('signed messages are forwarded as they are', async (t) => {
  const line = '{"type":"signed_prices", "trace_id":"mine","data":{"BTCUSD":{"n":1757543080505451011}}}';
  const { stdout, exitCode, received } = await publish([], { stdin: [`${line}\n`] });
  t.equal(exitCode, 0, 'which needs no key');
  t.same(received, [line]);
  t.match(JSON.parse(stdout[0]!), { type: 'ack', trace_id: 'mine' });
});

test('whatever is not accepted gives exit status 1', async (t) => {
  const rejected = await publish(['--key', KEY_FILE, 'ETHUSD=1']);
  t.match(JSON.parse(rejected.stdout[0]!), { type: 'ack', rejected: { ETHUSD: 'unknown asset' } });
  t.equal(rejected.exitCode, 1);
  const bad: [line: string, error: RegExp][] = [
    ['no json', /not a JSON object/],
    ['{"asset":"BTCUSD","price":"3,14"}', /price "3,14" is not a decimal number in range, such as 95000\.5/],
    ['{"asset":"BTCUSD","price":"1","timestamp":1.5}', /timestamp/],
    ['{"type":"signed_prices"}', /trace_id/],
  ];
  const { stdout, exitCode, received } = await publish(['--key', KEY_FILE], {
    stdin: bad.map(([line]) => `${line}\n`),
  });
  t.equal(exitCode, 1);
  t.same(received, []);
  for (const [i, [line, error]] of bad.entries())
    t.match(JSON.parse(stdout[i]!), { type: 'refused', error }, line);
  t.match((await publish(['--key', KEY_FILE, 'BTCUSD'])).stdout[0], /is not SYMBOL=PRICE/);
  t.match((await publish(['BTCUSD=1'])).stdout[0], /needs --key/);
});

test('a key that cannot be read is not shown', async (t) => {
  const typo = KEY.slice(1);
  const { stderr, exitCode } = await publish(['--key', typo, 'BTCUSD=1']);
  t.equal(exitCode, 1);
  t.match(stderr, /neither 64 hex digits nor a file; tickseal keygen --out FILE makes one$/m);
  t.notMatch(stderr, typo);
  const file = join(t.testdir({ 'key.hex': KEY }), 'key.hex');
  chmodSync(file, 0o640);
  t.match((await publish(['--key', file, 'BTCUSD=1'])).stderr, /is open to its group or to others/);
});

test('a connection that is refused is one clear line', async (t) => {
  const server = await startContractServer();
  const args = ['publish', '--url', server.url, '--key', KEY_FILE, 'BTCUSD=1'];
  process.env['TICKSEAL_TOKEN'] = 'wrong';
  t.teardown(() => {
    process.env['TICKSEAL_TOKEN'] = TOKEN;
  });
  const refused = await runCommand(registerPublish, args);
  t.match(refused, { stderr: `${server.url}: the service does not know this token (401)`, exitCode: 1 });
  await server.close();
  const absent = await runCommand(registerPublish, args);
  t.match(absent, { stderr: /^publish: \S+: nothing listens at this address \(ECONNREFUSED\)/, exitCode: 1 });
});

test('a key comes from a file, standard input or a variable; as an argument it is a warning', async (t) => {
  const warning = /^publish: the key after --key stands in the list of processes, .+\n$/;
  const asArgument = await publish(['--key', KEY, 'BTCUSD=1']);
  t.match(asArgument.stderr, warning);
  t.notMatch(asArgument.stderr, KEY);
  t.equal(asArgument.exitCode, 0);

  const withPrice = await publish(['--key', '-', 'BTCUSD=1'], { stdin: [`0x${KEY}\n`] });
  const withLines = await publish(['--key', '-'], { stdin: [`${KEY}\n{"asset":"BTCUSD","price":"1"}\n`] });
  process.env['TICKSEAL_KEY'] = KEY;
  const fromVariable = await publish(['BTCUSD=1']);
  delete process.env['TICKSEAL_KEY'];
  for (const { stderr, exitCode, messages } of [withPrice, withLines, fromVariable]) {
    t.same([stderr, exitCode], ['', 0]);
    const { publisher_key } = messages[0]!.data['BTCUSD']!.signed_price;
    t.equal(publisher_key.toLowerCase(), '0x99e295e85cb07c16b7bb62a44df532a7f2620237');
  }

  const { stderr, exitCode } = await publish(['--key', '-'], { stdin: ['not a key\n'] });
  t.equal(stderr, 'publish: --key: the first line of standard input does not hold 32 bytes of hex\n');
  t.equal(exitCode, 1);
});

test('the last price of each asset is signed again while standard input is open', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  const again = (symbols: readonly string[]) =>
    messagesOf(server).filter((updates) => symbols.every((symbol) => updates[symbol]?.trigger === 'clock'));
  async function* stdin() {
    yield '{"asset":"BTCUSD","price":"1","timestamp":1000000007,"trigger":"delta","metadata":{"venue":"x"}}\n';
    yield '{"asset":"ETHUSD","price":"2"}\n';
    await until(() => again(['BTCUSD', 'ETHUSD']).length >= 3, 'prices');
    yield '{"asset":"BTCUSD","price":"3"}\n';
    const isNew = ({ BTCUSD }: Record<string, PriceUpdate>) => /^30{18}$/.test(BTCUSD!.signed_price.price);
    await until(() => again(['BTCUSD']).some(isNew), 'the new price');
  }
  const { stdout, stderr, exitCode } = await publishTo(server, ['--every', '10ms'], stdin());
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
    times.every((time, i) => time > (times[i - 1] ?? 0n)),
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
  const server = await startContractServer();
  t.teardown(() => server.close());
  const running = publishTo(server, ['--every', '10ms', 'BTCUSD=1']);
  await until(() => server.received.length >= 2, 'messages');
  for (const socket of server.sockets) socket.terminate();
  await until(() => server.paths.length === 2, 'another connection');
  const { length } = server.received;
  await until(() => server.received.length >= length + 2, 'messages on it');
  process.emit('SIGTERM', 'SIGTERM');
  const { stdout, stderr } = await running;
  t.match(stderr, /^publish: .*closed with 1006\n$/);
  t.notMatch(stdout.join(), 'there is no connection');
});

test('an interval is a duration of whole milliseconds', async (t) => {
  for (const text of ['500', '0ms', '1500us', '2d', '-1s']) {
    const result = await runCommand(registerPublish, ['publish', '--every', text, 'BTCUSD=1']);
    t.match(result, { stderr: /expected whole milliseconds/, exitCode: 1 }, text);
  }
});

function publishTo(server: ContractServer, args: readonly string[], stdin: CommandInput['stdin'] = []) {
  const connection = ['publish', '--url', server.url, '--key', KEY_FILE];
  return runCommand(registerPublish, [...connection, ...args], { stdin });
}

function messagesOf(server: ContractServer): Record<string, PriceUpdate>[] {
  return server.received.map((text) => (parseExactJson(text) as Message).data);
}
