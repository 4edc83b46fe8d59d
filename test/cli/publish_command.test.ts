import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { registerPublish } from '../../src/cli/publish_command.js';
import type { PriceUpdate, SignedPrice } from '../../src/client/sign/sign_price.js';
import { parseExactJson, writeExactJson } from '../../src/client/verify/exact_json.js';
import { verifySignedPrice } from '../../src/client/verify/verify_signed_price.js';
import { startContractServer, TOKEN } from '../client/contract_server.js';
import { type CommandInput, runCommand } from './run_command.js';

const VECTORS = '../shared/vectors';
const skip = existsSync(VECTORS) ? false : 'the recorded data is not here';
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

test('recorded aggregates and prices can be piped in', { skip }, async (t) => {
  const aggregates = parseExactJson(readFileSync(`${VECTORS}/recorded-evm.json`, 'utf8')) as {
    signed_prices: SignedPrice[];
  }[];
  const evm = await publish([], { stdin: aggregates.map((aggregate) => `${writeExactJson(aggregate)}\n`) });
  t.equal(evm.exitCode, 0);
  t.same(
    evm.messages.map(({ data }) => data['POSITIVE_ASSET_1']!.signed_price),
    aggregates.map(({ signed_prices }) => signed_prices[0]),
  );
  const { signed_prices } = parseExactJson(readFileSync(`${VECTORS}/recorded-stark.json`, 'utf8')) as {
    signed_prices: SignedPrice[];
  };
  const stark = await publish(['--type', 'stark'], {
    stdin: signed_prices.map((price) => `${writeExactJson(price)}\n`),
  });
  t.equal(stark.exitCode, 0);
  t.same(
    stark.messages.map(({ data }) => data['BTCUSDMARK']!.oracle_id),
    ['Stkai', 'Stork', 'StCrw', 'dextr'],
  );
});

test('whatever is not accepted gives exit status 1', async (t) => {
  const rejected = await publish(['--key', KEY_FILE, 'ETHUSD=1']);
  t.match(JSON.parse(rejected.stdout[0]!), { type: 'ack', rejected: { ETHUSD: 'unknown asset' } });
  t.equal(rejected.exitCode, 1);
  const bad: [line: string, error: RegExp][] = [
    ['no json', /not a JSON object/],
    ['{"asset":"BTCUSD"}', /price "undefined"/],
    ['{"asset":"BTCUSD","price":"1e-19"}', /price "1e-19"/],
    ['{"asset":"BTCUSD","price":"3,14"}', /price "3,14" is not a decimal number in range, such as 95000\.5/],
    ['{"price":"1"}', /asset/],
    ['{"asset":"BTCUSD","price":"1","timestamp":1.5}', /timestamp/],
    ['{"asset":"BTCUSD","price":"1","trigger":5}', /trigger/],
    ['{"asset":"BTCUSD","price":"1","metadata":5}', /metadata/],
    ['{"type":"signed_prices"}', /trace_id/],
    ['{"signed_prices":[null]}', /external_asset_id/],
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
  const negative = await publish(['--key', `00${KEY.slice(2)}`, '--type', 'stark', 'BTCUSD=-1']);
  t.match(negative.stdout[0], /out of range/);
});

test('a key that cannot be read is not shown', async (t) => {
  const typo = KEY.slice(1);
  const { stderr, exitCode } = await publish(['--key', typo, 'BTCUSD=1']);
  t.equal(exitCode, 1);
  t.match(stderr, /neither 64 hex digits nor a file; tickseal keygen --out FILE makes one$/m);
  t.notMatch(stderr, typo);
  t.match((await publish(['--key', '/dev/null', 'BTCUSD=1'])).stderr, /is not a file/);
  const file = join(t.testdir({ 'key.hex': `${KEY}0` }), 'key.hex');
  chmodSync(file, 0o640);
  t.match((await publish(['--key', file, 'BTCUSD=1'])).stderr, /is open to its group or to others/);
  chmodSync(file, 0o600);
  t.match((await publish(['--key', file, 'BTCUSD=1'])).stderr, /does not hold 32 bytes/);
  const tooLarge = await publish(['--key', KEY_FILE, '--type', 'stark', 'BTCUSD=1']);
  t.match(tooLarge, { stderr: 'publish: the secret key is not one of this signature type\n', exitCode: 1 });
});

test('a connection that is refused is one clear line', async (t) => {
  const server = await startContractServer();
  const args = ['publish', '--url', server.url, '--key', KEY_FILE, 'BTCUSD=1'];
  process.env['TICKSEAL_TOKEN'] = 'wrong';
  t.teardown(() => {
    process.env['TICKSEAL_TOKEN'] = TOKEN;
  });
  const refused = await runCommand(registerPublish, args);
  t.match(refused, {
    stderr: `publish: ${server.url}: the service does not know this token (401): give one that its operator lists, in TICKSEAL_TOKEN\n`,
    exitCode: 1,
  });
  await server.close();
  const absent = await runCommand(registerPublish, args);
  t.match(
    absent.stderr,
    /^publish: \S+: nothing listens at this address \(ECONNREFUSED\): does the service run, and at this port\?\n$/,
  );
  t.equal(absent.exitCode, 1);
  t.equal((await runCommand(registerPublish, ['publish', '--url', 'nowhere', '--token', 'x'])).exitCode, 1);
});

test('a reader that goes away ends it quietly, and input is read no faster than it is answered', async (t) => {
  let lines = 0;
  function* endless() {
    for (;;) {
      lines += 1;
      yield `{"asset":"BTCUSD","price":"${lines}"}\n`;
    }
  }
  const { stderr, exitCode } = await publish(['--key', KEY_FILE], {
    stdin: endless(),
    onStdout: (stdout) =>
      stdout.once('data', () =>
        stdout.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
      ),
  });
  t.same([stderr, exitCode], ['', 0]);
  t.ok(lines < 5_000, `${lines} lines were read`);
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
  process.env['TICKSEAL_KEY'] = KEY_FILE;
  const fromNamedFile = await publish(['BTCUSD=1']);
  delete process.env['TICKSEAL_KEY'];
  for (const { stderr, exitCode, messages } of [withPrice, withLines, fromVariable, fromNamedFile]) {
    t.same([stderr, exitCode], ['', 0]);
    const { publisher_key } = messages[0]!.data['BTCUSD']!.signed_price;
    t.equal(publisher_key.toLowerCase(), '0x99e295e85cb07c16b7bb62a44df532a7f2620237');
  }

  for (const stdin of [[], ['not a key\n'], [`{"asset":"BTCUSD","price":"1"}\n`]]) {
    const { stderr, exitCode } = await publish(['--key', '-'], { stdin });
    t.equal(stderr, 'publish: --key: the first line of standard input does not hold 32 bytes of hex\n');
    t.equal(exitCode, 1);
  }
});
