import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { registerCheckConfig } from '../../src/cli/check_config_command.js';
import { registerInit } from '../../src/cli/init_command.js';
import { registerPrice } from '../../src/cli/price_command.js';
import { registerPublish } from '../../src/cli/publish_command.js';
import { start } from '../../src/cli/service_process.js';
import { parseSources } from '../../src/sources/parse_sources.js';
import { run, runCommand } from './run_command.js';

const KEY = `0x${'1'.padStart(64, '0')}`;
/** The address of the key. */
const PUBLISHER = '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf';

test('init makes a service that check-config accepts, that starts and gives a signed price', async (t) => {
  const dir = join(t.testdir(), 'made', 'host');
  const made = await runCommand(registerInit, [
    ...['init', dir, '--publisher', PUBLISHER, '--assets', 'TEAUSD,AAPL=us_equities'],
    ...['--port', '0', '--admin-port', '0'],
  ]);
  t.match(made, { exitCode: 0, stderr: '' });
  const file = join(dir, 'tickseal.yaml');
  t.match(await run(registerCheckConfig, 'check-config', file), {
    out: `${file}: ok\n`,
    err: '',
    exitCode: 0,
  });
  for (const path of ['.', ...(readdirSync(dir, { recursive: true }) as string[])]) {
    const stat = statSync(join(dir, path));
    t.equal(stat.mode & 0o777, stat.isDirectory() ? 0o700 : 0o600, path);
  }
  const service = (await start(file, pino({ level: 'silent' }), { simulation: true, takeOver: false }))!;
  t.teardown(() => service.stop());
  const url = `http://127.0.0.1:${service.port}`;
  const signer = /signs as: (\S+)/.exec(made.stdout.join('\n'))?.[1];
  writeFileSync(join(dir, 'publisher.hex'), KEY, { mode: 0o600 });
  t.teardown(() => delete process.env['TICKSEAL_TOKEN']);
  const tokenOf = (name: string) => {
    process.env['TICKSEAL_TOKEN'] = readFileSync(join(dir, 'tokens', name), 'utf8').trim();
  };
  tokenOf('publisher-1');
  const socket = url.replace('http', 'ws');
  const args = ['TEAUSD=3.14', '--key', join(dir, 'publisher.hex'), '--url', socket];
  t.match(await runCommand(registerPublish, ['publish', ...args]), {
    exitCode: 0,
    stdout: [/"accepted":\["TEAUSD"\]/],
  });
  tokenOf('reader');
  await eventually(async () => {
    const price = await runCommand(registerPrice, ['price', 'TEAUSD', '--signer', signer!, '--url', url]);
    return price.exitCode === 0 && /^TEAUSD 3\.14 .* verified/.test(price.stdout[0]!);
  });
});

test('init makes the publisher of real prices, with the sources of the page', async (t) => {
  const dir = join(t.testdir(), 'host');
  const args = ['init', dir, '--sources', '--assets', 'BTCUSD', '--port', '8181'];
  t.equal((await runCommand(registerInit, args)).exitCode, 0);
  const read = parseSources(readFileSync(join(dir, 'sources.yaml'), 'utf8'), 'sources.yaml');
  if (!read.ok) return t.fail(read.errors.join('\n'));
  const { assets, publish } = read.plan;
  const published = assets.map(({ symbol, isPublished }) => `${symbol} ${isPublished}`);
  t.same(published, ['USDTUSD false', 'BTCUSD true'], 'the price that converts others stays');
  t.equal(publish.url, 'ws://127.0.0.1:8181/evm/publish');
  const token = readFileSync(join(dir, 'tokens/sources'), 'utf8');
  t.equal(readFileSync(join(dir, 'sources.env'), 'utf8'), `TICKSEAL_TOKEN=${token}`);
  const unit = readFileSync(join(dir, 'tickseal-sources.service'), 'utf8');
  t.notMatch(unit, /\/etc\/tickseal|\/opt\/tickseal/, 'each path is one of this host');
  t.match(unit, process.execPath);
});

test('init asks on a terminal, again until the answer is valid', async (t) => {
  const dir = join(t.testdir(), 'host');
  const ask = (answers: readonly string[]) =>
    runCommand(
      (program, streams) =>
        registerInit(program, { ...streams, stdin: Object.assign(streams.stdin, { isTTY: true }) }),
      ['init', dir],
      { stdin: answers.map((line) => `${line}\n`) },
    );
  t.match(await ask(['x']), { exitCode: 1, stderr: /not answered, so nothing was written/ });
  const { exitCode, stderr } = await ask(['0x12', PUBLISHER, 'BTCUSD', 'wss://prices.example.com', '']);
  t.match(stderr, /neither an address/);
  t.equal(exitCode, 0);
  t.match(readFileSync(join(dir, 'tickseal.yaml'), 'utf8'), /public_url: wss:\/\/prices\.example\.com\n/);
});

test('init refuses what makes no service, and writes nothing', async (t) => {
  const folder = t.testdir({ used: { file: '' } });
  const says = async (args: readonly string[], reason: RegExp, status = 1, name = 'host') => {
    const { exitCode, stderr } = await runCommand(registerInit, ['init', join(folder, name), ...args]);
    t.match(stderr, reason);
    t.equal(exitCode, status, String(reason));
    t.same(readdirSync(folder), ['used']);
  };
  const publisher = ['--publisher', PUBLISHER];
  await says([], /--publisher, or .* --sources/);
  await says([...publisher, '--sources'], /give one of them/);
  await says([...publisher, '--assets', 'A', '--tls-cert', 'x'], /belong together/);
  await says([...publisher, '--assets', 'A=never'], /^tickseal\.yaml:\d+:\d+ assets\[0\]\.calendar: unk/, 2);
  await says(['--sources', '--assets', 'NONE'], /no markets of NONE/);
  await says(['--sources', '--tls-cert', 'x', '--tls-key', 'y'], /need --public-url/);
  await says([...publisher, '--assets', 'A'], /is not empty/, 1, 'used');
  await says([...publisher, '--assets', 'A'], /letters, digits/, 1, 'a b');
});
