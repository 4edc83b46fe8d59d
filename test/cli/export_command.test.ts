import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { registerExport } from '../../src/cli/export_command.js';
import { parseInstant } from '../../src/cli/instant_option.js';
import { registerPrice } from '../../src/cli/price_command.js';
import { registerVerify } from '../../src/cli/verify_command.js';
import { createClient } from '../../src/client/node.js';
import { instantText } from '../../src/model/instant.js';
import { PRICE_MAX } from '../../src/model/price.js';
import { Feed, units } from '../service/feed.js';
import { startTestService, TOKEN } from '../service/harness.js';
import { runCommand } from './run_command.js';

test('an instant is a time, a day, or UNIX seconds or nanoseconds, exactly', async (t) => {
  const noon = 1_763_640_000_000_000_000n;
  for (const [text, ns] of [
    ['2025-11-20T12:00:00Z', noon],
    ['2025-11-20 12:00Z', noon],
    ['2025-11-20T13:30:00.000000001+01:30', noon + 1n],
    ['2025-11-20', noon - 43_200_000_000_000n],
    [String(noon + 7n), noon + 7n],
    ['1763640000', noon],
  ] as const)
    t.equal(parseInstant(text), ns, text);
  for (const text of ['', 'noon', '1763640000000', '2025-02-30', '2025-11-20T25:00Z', '2025-11-20T12:00'])
    t.throws(() => parseInstant(text), /expected a time/, text);
  t.equal(instantText(noon + 120n), '2025-11-20T12:00:00.00000012Z');
});

test('the past is printed and written to files, verified, and an export that fails leaves no file', async (t) => {
  const dir = t.testdir();
  const service = await startTestService(t, {
    assets: ['BTCUSD', 'ETHUSD'].map((symbol, i) => ({
      id: i + 1,
      symbol,
      max_age: '24h',
      clock_period: '24h',
    })),
    storage: { dir: join(dir, 'data'), past: { proofs: '7d', signatures: '90d' } },
  });
  const client = createClient({ urls: service.url, token: TOKEN, signers: 'unchecked' });
  const keys = (await client.taxonomy()).signers.flatMap(({ address }) => ['--signer', address]);
  const feed = await Feed.open(service);
  const times: bigint[] = [];
  const texts: string[] = [];
  for (const price of [100, 110, 120]) {
    await feed.accept({ symbol: 'BTCUSD', price: units(price) });
    const shown = await eventually(async () => {
      const { BTCUSD } = await client.latest(['BTCUSD']);
      return BTCUSD?.decimal === String(price) && BTCUSD;
    });
    times.push(shown.timestampNs);
    texts.push(shown.text);
  }
  await client.close();
  const base = ['BTCUSD', '--url', service.url];
  process.env['TICKSEAL_TOKEN'] = TOKEN;
  t.teardown(() => delete process.env['TICKSEAL_TOKEN']);
  const price = (...args: string[]) => runCommand(registerPrice, ['price', ...base, ...args]);
  const at = await price('--at', instantText(times[1]! + 5n), ...keys);
  t.match(at, { exitCode: 0, stderr: '' });
  t.match(at.stdout, [
    new RegExp(`^BTCUSD 110  ${instantText(times[1]!)}  1 publishers  verified, signed by 0x`),
  ]);
  t.match((await price(...keys)).stdout, [/^BTCUSD 120 /]);
  t.same((await price('--json', '--at', String(times[0]), ...keys)).stdout, [texts[0]]);
  t.match(await price(), { exitCode: 3, stdout: [/NOT verified/] });
  t.match(await price('--signer', `0x${'12'.repeat(20)}`), { exitCode: 1, stdout: [] });

  const file = (name: string) => join(dir, name);
  const verify = (name: string, ...args: string[]) =>
    runCommand(registerVerify, ['verify', file(name), ...args]);
  const isVerdict = (line: string) => /^BTCUSD: /.test(line);
  const run = (name: string, ...args: string[]) =>
    runCommand(registerExport, ['export', ...base, '--from', String(times[0]), '-o', file(name), ...args]);
  t.match(await run('a.ndjson', ...keys), {
    exitCode: 0,
    stderr:
      /^export: 3 aggregates of BTCUSD in .*\nexport: verified: the service's signatures, and the publishers' prices/,
  });
  t.same(readFileSync(file('a.ndjson'), 'utf8').split('\n').slice(0, -1), texts);
  t.match(
    (await verify('a.ndjson', ...keys)).stdout.filter(isVerdict),
    new Array(3).fill('BTCUSD: verified'),
  );
  await run('signed.ndjson', '--detail', 'signature', ...keys);
  const absent = await verify('signed.ndjson', ...keys);
  t.match(absent, { exitCode: 0, stderr: '' });
  t.same(absent.stdout.filter(isVerdict), new Array(3).fill('BTCUSD: verified, inputs: absent'));
  const [signed, , last] = readFileSync(file('signed.ndjson'), 'utf8').split('\n');
  writeFileSync(file('forged.ndjson'), `${last}\n${signed!.replaceAll('"price":"1', '"price":"2')}\n`);
  const forged = await verify('forged.ndjson', ...keys);
  t.match([forged.exitCode, forged.stdout.at(-1)], [1, /: FAILED: /]);
  await run('a.csv', '--detail', 'signature', '--to', String(times[2]), ...keys);
  const lines = readFileSync(file('a.csv'), 'utf8').split('\n');
  t.match(lines[0], /^signed_at,timestamp,price,asset_id,.*algorithm_checksum$/);
  t.match(lines[2], new RegExp(`^${times[1]},\\d{19},110\\.0{18},BTCUSD,evm,`));
  t.equal(lines.length, 4);
  t.match(await run('c.csv', '--signer', `0x${'12'.repeat(20)}`), { exitCode: 1 });
  t.notOk(readdirSync(dir).find((name) => name.startsWith('c.csv')));
  t.equal((await run('a.xlsx', ...keys)).exitCode, 2);
  t.match(await run('week.csv', '--from', '-7d', ...keys), { exitCode: 1, stderr: /keeps prices from/ });
  await feed.accept({ symbol: 'ETHUSD', price: units(7) });
  await eventually(async () => (await price('ETHUSD', ...keys)).stdout.length === 2);
  t.equal((await run('two.csv', 'ETHUSD', ...keys)).exitCode, 0);
  const symbols = readFileSync(file('two.csv'), 'utf8')
    .match(/(?<=,)(?:BTC|ETH)USD(?=,)/g)
    ?.join();
  t.equal(symbols, 'BTCUSD,BTCUSD,BTCUSD,ETHUSD', 'each asset after the other, as named');
  t.match(await run('d.csv'), { exitCode: 3, stderr: /NOT verified/ });

  await feed.accept({ symbol: 'BTCUSD', price: PRICE_MAX });
  await eventually(async () => (await price(...keys)).stdout[0]?.startsWith('BTCUSD 17014'));
  t.match(await run('long.parquet', ...keys), {
    exitCode: 0,
    stderr: /: 4 aggregates .*\nexport: the column price is text, because a price has more than 38 digits\n/,
  });
  t.match(readFileSync(file('long.parquet'), 'latin1'), '70141183460469231731.687303715884105727');
});
