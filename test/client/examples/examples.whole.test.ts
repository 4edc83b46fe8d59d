import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { parseDecimalPrice } from '../../../src/client/index.js';
import { ROOT, section } from '../../pages.js';
import { Feed } from '../../service/feed.js';
import { get, startTestService, type TestService } from '../../service/harness.js';
import { latestWhen } from '../../service/publishing.js';
import { runExample, startExample } from './example.js';

/** Starts a service with a price. `tell` publishes further prices. */
async function serve(t: Test): Promise<{ service: TestService; tell(decimal: string): Promise<void> }> {
  const service = await startTestService(t);
  let isStopped = false;
  const stop = service.stop;
  service.stop = async () => {
    if (!isStopped) await stop.call(service);
    isStopped = true;
  };
  const feed = await Feed.open(service);
  const tell = (decimal: string) => feed.accept({ symbol: 'BTCUSD', price: parseDecimalPrice(decimal)! });
  await tell('100.5');
  await latestWhen(service, 'BTCUSD');
  return { service, tell };
}

test('every example stands in the table of its page, and is run by a test', async (t) => {
  const folder = join(ROOT, 'src/client/examples');
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && name !== 'required_settings.ts');
  const listed = [...section('src/client/README.md', 'Examples').matchAll(/^\| \[`(\w+\.ts)`\]/gm)].map(
    ([, name]) => name,
  );
  t.same(listed.sort(), files.sort());
  const tests = [
    'client/examples/examples.whole.test.ts',
    'browser/client.whole.test.ts',
    'client/solidity/keeper.whole.test.ts',
  ]
    .map((name) => readFileSync(join(ROOT, 'test', name), 'utf8'))
    .join('');
  for (const name of files) t.match(tests, `'${name.replace('.ts', '')}'`, name);
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
  const text = await (await get(`${service.url}/v1/prices/latest?assets=BTCUSD`)).text();
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
