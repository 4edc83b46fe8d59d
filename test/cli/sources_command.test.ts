import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PassThrough } from 'node:stream';
import { test } from 'tap';
import { registerPublish } from '../../src/cli/publish_command.js';
import { registerSources } from '../../src/cli/sources_command.js';
import { parseExactJson } from '../../src/client/verify/exact_json.js';
import { startContractServer, TOKEN } from '../client/contract_server.js';
import { ROOT } from '../pages.js';
import { childrenOf, isGone } from '../service/child.js';
import { until } from '../sources/markets/manual_time.js';
import { runCommand } from './run_command.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'tickseal-sources-'));
process.once('exit', () => rmSync(FOLDER, { recursive: true }));
const MAIN = join(ROOT, 'dist/src/cli/main.js');
const KEY_FILE = join(FOLDER, 'evm.hex');
writeFileSync(KEY_FILE, '8b558d5fc31eb64bb51d44b4b28658180e96764d5d5ac68e6d124f86f576d9de', { mode: 0o600 });
process.env['TICKSEAL_TOKEN'] = TOKEN;

const SCRIPT = `setInterval(() => {
  console.log(JSON.stringify({ symbol: 'GOLD', bid: '2000.10', ask: '2000.30' }));
  console.log(JSON.stringify({ symbol: 'KEY', price: process.env.TICKSEAL_TOKEN === undefined ? 1 : 2 }));
}, 20)`;

function fileOf(name: string, assets: string, script = SCRIPT): string {
  const file = join(FOLDER, name);
  writeFileSync(
    file,
    `sources: { desk: { kind: command, run: ${JSON.stringify([process.execPath, '-e', script])} } }
assets: ${assets}
publish: { every: 50ms }
`,
  );
  return file;
}

const GOLD = fileOf('gold.yaml', '{ XAUUSD: { from: [desk GOLD], min_sources: 1 } }');

test('prints decisions until a signal, and the recording gives the same ones', async (t) => {
  const recording = join(FOLDER, 'gold.jsonl');
  let out = '';
  const onStdout = (stdout: PassThrough) => stdout.on('data', (chunk) => (out += String(chunk)));
  const running = runCommand(registerSources, ['sources', GOLD, '--record', recording], { onStdout });
  await until(() => out.split('"price":"2000.2"').length > 5, 'five prices');
  process.emit('SIGTERM', 'SIGTERM');
  const { stdout, stderr, exitCode } = await running;
  t.same([stderr, exitCode], ['', 0]);
  t.match(JSON.parse(stdout.at(-1)!), {
    asset: 'XAUUSD',
    price: '2000.2',
    trigger: 'clock',
    sources: [{ source: 'desk', symbol: 'GOLD', bid: '2000.1', ask: '2000.3', verdict: 'used' }],
  });
  const replayed = await runCommand(registerSources, ['sources', GOLD, '--replay', recording]);
  t.same(replayed.stdout, stdout, 'byte for byte');
  t.equal(replayed.exitCode, 0);
  writeFileSync(recording, readFileSync(recording, 'utf8').replaceAll('2000.10', '2000.20'));
  t.equal((await runCommand(registerSources, ['sources', GOLD, '--replay', recording])).exitCode, 1);
});

test('SIGINT and SIGHUP end a run with a whole recording, and its command ends too', async (t) => {
  for (const signal of ['SIGINT', 'SIGHUP'] as const) {
    const recording = join(FOLDER, `${signal}.jsonl`);
    const child = spawn(process.execPath, [MAIN, 'sources', GOLD, '--record', recording], { stdio: 'pipe' });
    let out = '';
    child.stdout.on('data', (chunk) => (out += String(chunk)));
    await until(() => out.split('"price":"2000.2"').length > 5, 'five prices');
    child.kill(signal);
    const [status] = await once(child, 'close');
    t.equal(status, 0, signal);
    t.equal(readFileSync(recording, 'utf8').split('"wrote"').length, out.split('\n').length, signal);
  }
});

test('a file with errors', async (t) => {
  const file = fileOf('bad.yaml', '{ XAUUSD: { from: [disk GOLD], min_sources: 1 } }');
  const { stderr, exitCode } = await runCommand(registerSources, ['sources', file]);
  t.match(stderr, /bad\.yaml:2:\d+ assets\.XAUUSD\.from\[0\]: no source is named disk/);
  t.equal(exitCode, 2);
});

test('publish --from signs the prices of another process, which never has the token', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  const file = fileOf(
    'all.yaml',
    '{ XAUUSD: { from: [desk GOLD], min_sources: 1 }, KEYUSD: { from: [desk KEY], min_sources: 1 }, HIDDEN: { from: [desk GOLD], min_sources: 1, publish: false } }',
  );
  const args = ['publish', '--from', file, '--key', KEY_FILE, '--url', server.url];
  const running = runCommand(registerPublish, args);
  await until(() => server.received.length >= 6, 'six messages');
  process.emit('SIGTERM', 'SIGTERM');
  const { stderr, exitCode } = await running;
  t.same([stderr, exitCode], ['', 0]);
  const prices = server.received.flatMap((text) => {
    const { data } = parseExactJson(text) as { data: Record<string, { signed_price: { price: string } }> };
    return Object.entries(data).map(([symbol, { signed_price }]) => `${symbol} ${signed_price.price}`);
  });
  t.same([...new Set(prices)].sort(), [`KEYUSD ${10n ** 18n}`, `XAUUSD ${20_002n * 10n ** 17n}`]);
});

const options = { skip: process.platform === 'linux' ? false : 'reads /proc' };

test('a killed publisher without any price leaves no process', options, async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  const pidFile = join(FOLDER, 'silent.pid');
  const script = `require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1e6)`;
  const file = fileOf('silent.yaml', '{ A: { from: [desk A], min_sources: 1, max_age: 60s } }', script);
  const args = [MAIN, 'publish', '--from', file, '--key', KEY_FILE, '--url', server.url];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '', 'the command');
  const command = Number(readFileSync(pidFile, 'utf8'));
  const others = childrenOf(child.pid!)!;
  t.equal(others.length, 1, 'the process of the sources');
  child.kill('SIGKILL');
  await until(() => isGone(others[0]!), 'the end of the sources');
  await until(() => isGone(command), 'the end of the command');
});
