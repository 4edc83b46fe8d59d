import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { parseDecimalPrice } from '../../../src/client/index.js';
import { ROOT, section } from '../../pages.js';
import { publisherSigner, startTestService, type TestService } from '../../service/harness.js';
import { latestWhen, openPublisher, publish } from '../../service/publishing.js';
import { runExample, startExample } from './example.js';

const LINES_MIN = 15;
const LINES_MAX = 35;
/** The keeper is a whole program. */
const LINES_MAX_OF_KEEPER = 150;

/** Starts a service with a price. `tell` publishes further prices. */
async function serve(t: Test): Promise<{ service: TestService; tell(decimal: string): Promise<void> }> {
  const service = await startTestService(t);
  let isStopped = false;
  const stop = service.stop;
  service.stop = async () => {
    if (!isStopped) await stop.call(service);
    isStopped = true;
  };
  const socket = await openPublisher(service);
  t.teardown(() => socket.ws.terminate());
  const tell = async (decimal: string) => {
    const timestampNs = BigInt(Date.now()) * 1_000_000n;
    const price = parseDecimalPrice(decimal)!;
    const { accepted } = await publish(socket, [
      publisherSigner(1).sign({ symbol: 'BTCUSD', price, timestampNs }),
    ]);
    t.same(accepted, ['BTCUSD']);
  };
  await tell('100.5');
  await latestWhen(service, 'BTCUSD');
  return { service, tell };
}

test('every example stands in the table of its page, is short, and is run by a test', async (t) => {
  const folder = join(ROOT, 'src/client/examples');
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && name !== 'required_settings.ts');
  t.equal(files.length, 7);
  const listed = [...section('src/client/README.md', 'Examples').matchAll(/^\| \[`(\w+\.ts)`\]/gm)].map(
    ([, name]) => name,
  );
  t.same(listed.sort(), files.sort());
  const tests = [
    'examples/examples.whole.test.ts',
    'examples/browser_page.whole.test.ts',
    'solidity/keeper_run.ts',
  ]
    .map((name) => readFileSync(join(ROOT, 'test/client', name), 'utf8'))
    .join('');
  for (const name of files) {
    const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n').length;
    const most = name === 'keeper.ts' ? LINES_MAX_OF_KEEPER : LINES_MAX;
    t.ok(lines >= LINES_MIN && lines <= most, `${name} has ${lines} lines`);
    t.match(tests, `'${name.replace('.ts', '')}'`, name);
  }
});

test('an example names the variables that it lacks, and ends with one line', async (t) => {
  const names = ['TICKSEAL_TOKEN', 'SIGNER'];
  const none = {
    TICKSEAL_TOKEN: '',
    SIGNER: '',
    PUBLISHER_KEY: '',
    ORACLE_ID: '',
    RPC_URL: '',
    READER: '',
    KEEPER_KEY: '',
  };
  const service = { url: 'http://127.0.0.1:1', evmAddress: '' };
  for (const [name, missing] of [
    ...['price_alert', 'quorum_prices', 'watch_price'].map((one) => [one, names] as const),
    ['keeper', [...names, 'RPC_URL']],
    ['publish_price', ['TICKSEAL_TOKEN', 'PUBLISHER_KEY', 'ORACLE_ID']],
    ['verify_saved_price', ['SIGNER']],
  ] as const)
    t.same(
      await runExample(t, service, name, [], none),
      { status: 2, output: `set ${missing.join(', ')} in the environment\n` },
      name,
    );
  const file = await runExample(t, service, 'verify_saved_price', ['nosuch.json'], {
    SIGNER: `0x${'11'.repeat(20)}`,
  });
  t.match(file, { status: 1, output: /^there is no file nosuch\.json: save an answer in it/ });
});

test('an example at a dead address says so, and goes on trying', async (t) => {
  const service = { url: 'http://127.0.0.1:1', evmAddress: `0x${'11'.repeat(20)}` };
  const dead = /^http:\/\/127\.0\.0\.1:1: nothing listens at this address/;
  for (const name of ['watch_price', 'price_alert']) await startExample(t, service, name, []).printed(dead);
});

test('watch_price prints verified prices', async (t) => {
  const { service } = await serve(t);
  const { status, output } = await runExample(t, service, 'watch_price', ['BTCUSD', '3']);
  t.equal(status, 0, output);
  t.match(output, new RegExp(`^(?:BTCUSD 100\\.5 verified ${service.evmAddress} -?\\d+ ms old\\n){3}$`));
});

test('verify_saved_price verifies a saved aggregate, and refuses one that was changed', async (t) => {
  const { service } = await serve(t);
  const file = join(t.testdir(), 'price.json');
  const text = await (
    await fetch(`${service.url}/v1/prices/latest?assets=BTCUSD`, {
      headers: { Authorization: 'Basic test-token' },
    })
  ).text();
  writeFileSync(file, text);
  const { status, output } = await runExample(t, service, 'verify_saved_price', [file]);
  t.equal(status, 0, output);
  t.match(output, /^BTCUSD: verified, \d+ of \d+ checks passed\n$/);
  writeFileSync(file, text.replaceAll('"price":"100', '"price":"200'));
  const changed = await runExample(t, service, 'verify_saved_price', [file]);
  t.equal(changed.status, 1);
  t.match(changed.output, /failed: signed_prices\[0\] msg_hash: [\s\S]*BTCUSD: failed/);
});

test('publish_price publishes a price, and says why one is refused', async (t) => {
  const { service } = await serve(t);
  const keyOf = (n: number) => `0x${(n + 0x100).toString(16).padStart(64, '0')}`;
  const env = (n: number) => ({ PUBLISHER_KEY: keyOf(n), ORACLE_ID: 'tests' });
  const { status, output } = await runExample(t, service, 'publish_price', ['BTCUSD', '101.25'], env(2));
  t.equal(status, 0, output);
  t.equal(output, 'BTCUSD 101.25 is accepted, and on disk\n');
  const refused = await runExample(t, service, 'publish_price', ['BTCUSD', '101.25'], env(9));
  t.equal(refused.status, 1);
  t.match(refused.output, /^BTCUSD 101\.25 is rejected: .*allow-list/);
});

test('quorum_prices reads two services, and ends below the quorum', async (t) => {
  const [{ service: first }, { service: second }] = [await serve(t), await serve(t)];
  const env = { TICKSEAL_URLS: `${first.url},${second.url}` };
  const any = startExample(t, first, 'quorum_prices', ['BTCUSD', '1'], env);
  const both = startExample(t, first, 'quorum_prices', ['BTCUSD'], env);
  await Promise.all([any, both].map((one) => one.printed(/2 of 2 services[\s\S]*BTCUSD 100\.5 from/)));
  await first.stop();
  t.equal(await both.ended, 1);
  t.match(both.output(), /1 of 2 services\nbelow the quorum of 2\n/);
  await any.printed(new RegExp(`1 of 2 services\\n[\\s\\S]*BTCUSD 100\\.5 from ${second.url}`));
});

test('price_alert ends when a price moves, and when it is stale', async (t) => {
  const { service, tell } = await serve(t);
  const moved = startExample(t, service, 'price_alert', ['BTCUSD', '1.5', '60']);
  await moved.printed(/BTCUSD starts at 100\.5\n/);
  await tell('102');
  await latestWhen(service, 'BTCUSD', ({ price }) => price.startsWith('102'));
  await tell('103');
  t.equal(await moved.ended, 2);
  t.equal(moved.output(), 'BTCUSD starts at 100.5\nBTCUSD moved by more than 1.5 %: 103\n');
  const stale = await runExample(t, service, 'price_alert', ['DYDXUSD', '1', '1']);
  t.equal(stale.status, 2);
  t.equal(stale.output, 'DYDXUSD is stale: no price for 1 s\n');
});
