import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PassThrough } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { type Test, test } from 'tap';
import { LocalExchange } from '../../scripts/load/local_exchange.js';
import { registerPublish } from '../../src/cli/publish_command.js';
import { registerSources } from '../../src/cli/sources_command.js';
import { startContractServer, TOKEN } from '../client/contract_server.js';
import { ROOT } from '../pages.js';
import { until } from '../sources/markets/manual_time.js';
import { type CommandInput, runCommand } from './run_command.js';

const MAIN = join(ROOT, 'dist/src/cli/main.js');
const FOLDER = mkdtempSync(join(tmpdir(), 'tickseal-session-'));
process.once('exit', () => rmSync(FOLDER, { recursive: true }));
const SECRET = 'hidden-key-of-a-vendor-0123456789abcdef';

/** A reason to skip tests in a real terminal. */
const noTerminal = existsSync('/usr/bin/script') ? false : 'there is no program script';

let files = 0;

/** Writes a sources file with two local exchanges. Both quote a middle price of 100. */
async function market(
  t: Test,
  pair = 'BTC/USD',
  more = '',
): Promise<{ file: string; exchanges: LocalExchange[] }> {
  const exchanges = [];
  for (const kind of ['kraken', 'binance'] as const) {
    const exchange = await LocalExchange.start(t, kind, ['BTC/USD', 'BTC/EUR']);
    exchange.show('BTC/USD', '99.9', '100.1', Date.now());
    exchanges.push(exchange);
  }
  const file = join(FOLDER, `${++files}.yaml`);
  writeFileSync(
    file,
    `sources:
  kraken: ${exchanges[0]!.definition}
  binance: ${exchanges[1]!.definition}
assets:
  BTCUSD: { from: [kraken BTC/USD, binance BTC/USD], max_age: 60s }
  EURUSD: { from: [binance ${pair}], min_sources: 1, max_age: 60s }
publish: { every: 50ms }
${more}`,
  );
  return { file, exchanges };
}

const register =
  (checkMs = 1_500): typeof registerSources =>
  (program, streams) =>
    registerSources(program, streams, { checkMs, tableMs: 20 });
const run = (args: readonly string[], input?: CommandInput, checkMs?: number) =>
  runCommand(register(checkMs), ['sources', ...args], input);
const stop = () => process.emit('SIGTERM', 'SIGTERM');

test('--check says what is wrong, and ends with 0 or 1', async (t) => {
  const good = await market(t);
  const fine = await run([good.file, '--check']);
  t.same([fine.stderr, fine.exitCode], ['', 0]);
  t.match(
    fine.stdout.map((line) => line.split(/ {2,}/)),
    [
      ['asset', 'source', 'symbol', 'bid', 'ask', 'age', 'verdict'],
      ['BTCUSD', 'price 100'],
      ['', 'kraken', 'BTC/USD', '99.9', '100.1', / s$/, 'used'],
    ],
  );
  const bad = await market(t, 'BTC/UDS');
  bad.exchanges[0]!.show('BTC/USD', '100.2', '100.1', Date.now());
  const faulty = await run([bad.file, '--check']);
  t.equal(faulty.exitCode, 1);
  const wrong = faulty.stdout.filter((line) => line.startsWith('wrong: '));
  t.match(wrong, [
    new RegExp(
      `^wrong: ${bad.file}:6:20 assets\\.EURUSD\\.from\\[0\\]: binance BTC/UDS: no such pair trades here; near it are BTC/USD, BTC/EUR$`,
    ),
    /kraken BTC\/USD: crossed/,
    /BTCUSD: no price: too few sources/,
    /binance BTC\/UDS: no quote/,
    /EURUSD: no price/,
  ]);
});

test('a pair that an exchange lacks is an error of the file', async (t) => {
  const { file } = await market(t, 'BTC/UDS');
  const { stderr, exitCode } = await run([file]);
  t.equal(exitCode, 2);
  t.match(
    stderr,
    /:6:20 assets\.EURUSD\.from\[0\]: binance BTC\/UDS: no such pair trades here; near it are BTC\/USD/,
  );
  let out = '';
  const onStdout = (stdout: PassThrough) => stdout.on('data', (chunk) => (out += String(chunk)));
  const going = run([file, '--skip-missing'], { onStdout });
  await until(() => out.includes('"asset":"BTCUSD","price":"100"'), 'the price of the others');
  stop();
  const skipped = await going;
  t.equal(skipped.exitCode, 0);
  t.match(skipped.stderr, /no such pair trades here/);
});

test('a table on a terminal, coloured and plain', async (t) => {
  const { file, exchanges } = await market(t);
  exchanges[1]!.say('{garbage');
  for (const plain of [false, true]) {
    let out = '';
    const onStdout = (stdout: PassThrough) => {
      Object.assign(stdout, { isTTY: true });
      stdout.on('data', (chunk) => (out += String(chunk)));
    };
    const before = process.env['NO_COLOR'];
    process.env['NO_COLOR'] = plain ? '1' : '';
    const running = run([file], { onStdout });
    await until(() => out.includes('price 100'), 'the table');
    exchanges[1]!.say('{garbage');
    await until(() => out.includes('sources: binance: the frame is not JSON'), 'the warning under the table');
    stop();
    const { stderr } = await running;
    if (before === undefined) delete process.env['NO_COLOR'];
    else process.env['NO_COLOR'] = before;
    t.equal(stderr, '', 'nothing breaks the table');
    t.equal(out.includes('\x1b[32m'), !plain);
    t.match(out, '\x1b[H\x1b[2J');
    t.match(stripVTControlCharacters(out), /kraken +BTC\/USD +99\.9 +100\.1 +\d+\.\d s +used/);
    t.notMatch(out, '"asset"', 'no lines between');
  }
});

test('a table fits a real terminal of 50 × 10, also with the file for production', {
  skip: noTerminal,
}, async (t) => {
  const many = Array.from({ length: 40 }, (_, i) => `  A${i}: { from: [desk A${i}], min_sources: 1 }`);
  const small = join(FOLDER, 'many.yaml');
  writeFileSync(
    small,
    `sources: { desk: { kind: command, run: [sleep, "60"] } }\nassets:\n${many.join('\n')}\n`,
  );
  // The file for production with commands that send nothing in place of all exchanges.
  const production = join(FOLDER, 'production.yaml');
  const text = readFileSync(join(ROOT, 'scripts/deploy/sources.yaml'), 'utf8');
  writeFileSync(
    production,
    text.replace(/\{ kind: (?!command|http)\w+[^}]*\}/g, '{ kind: command, run: [sleep, "60"] }'),
  );
  for (const file of [small, production]) {
    const shell = `stty cols 50 rows 10; exec ${process.execPath} ${MAIN} sources ${file}`;
    const child = spawn('script', ['-qec', shell, '/dev/null'], { stdio: ['ignore', 'pipe', 'ignore'] });
    let out = '';
    child.stdout.on('data', (chunk) => (out += String(chunk)));
    const screens = () => out.split('\x1b[H\x1b[2J').slice(1);
    await until(() => screens().length >= 3, 'three screens');
    child.kill();
    await once(child, 'close');
    for (const screen of screens().slice(0, 3)) {
      const lines = stripVTControlCharacters(screen).split(/\r?\n/);
      t.ok(lines.length <= 10, `${lines.length} lines`);
      for (const line of lines) t.ok(line.length <= 50, line);
      t.match(screen, /\d+ more/);
    }
  }
});

test('a byte order mark is skipped in a recording and on standard input', async (t) => {
  const { file } = await market(t);
  const recording = join(FOLDER, 'marked.jsonl');
  let out = '';
  const running = run([file, '--record', recording], {
    onStdout: (stdout) => stdout.on('data', (chunk) => (out += String(chunk))),
  });
  await until(() => out.includes('"price":"100"'), 'a price');
  stop();
  await running;
  writeFileSync(recording, `\ufeff${readFileSync(recording, 'utf8')}`);
  const replayed = await run([file, '--replay', recording]);
  t.match(replayed.stderr, / 0 differ, 0 are additional, 0 lines cannot be read/);
  const server = await startContractServer();
  t.teardown(() => server.close());
  const key = join(FOLDER, 'mark.hex');
  writeFileSync(key, '8b558d5fc31eb64bb51d44b4b28658180e96764d5d5ac68e6d124f86f576d9de', { mode: 0o600 });
  const published = await runCommand(
    registerPublish,
    ['publish', '--url', server.url, '--token', TOKEN, '--key', key],
    { stdin: '\ufeff{"asset":"BTCUSD","price":1e-7}\n' },
  );
  t.equal(published.exitCode, 0, published.stdout.join());
  t.match(server.received.join(), '"price":"100000000000"');
});

test('--metrics serves the process, and an address in use is an error', async (t) => {
  const { file, exchanges } = await market(t);
  let errors = '';
  const running = runCommand(
    (program, streams) => {
      streams.stderr.on('data' as never, (chunk: unknown) => (errors += String(chunk)));
      registerSources(program, streams);
    },
    ['sources', file, '--metrics', '127.0.0.1:0'],
  );
  await until(() => errors.includes('metrics are on port'), 'the port');
  const [, port] = /port (\d+)/.exec(errors)!;
  await until(() => exchanges.every(({ asked }) => asked.length > 0), 'subscriptions');
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  t.match(text, /^tickseal_sources_connections\{source="kraken"\} 1$/m);
  t.match(text, /^process_resident_memory_bytes \d+$/m);
  const second = await run([file, '--metrics', `127.0.0.1:${port}`]);
  t.match(second, { exitCode: 1, stderr: /--metrics: 127\.0\.0\.1:\d+ cannot be used \(EADDRINUSE\)/ });
  stop();
  await running;
  for (const address of ['9091', 'a:99999', '[::1', ''])
    t.match((await run([file, '--metrics', address])).stderr, /expected a host and a port/, address);
});

test('--speed takes as long as the recording divided by it', async (t) => {
  const { file } = await market(t);
  const recording = join(FOLDER, 'speed.jsonl');
  let out = '';
  const onStdout = (stdout: PassThrough) => stdout.on('data', (chunk) => (out += String(chunk)));
  const running = run([file, '--record', recording], { onStdout });
  await until(() => out.split('"clock"').length > 12, 'half a second');
  stop();
  await running;
  const times = readFileSync(recording, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => BigInt(JSON.parse(line).at));
  const recordedMs = Number(times.at(-1)! - times[0]!) / 1e6;
  const duration = async (speed: string[]) => {
    const start = performance.now();
    t.equal((await run([file, '--replay', recording, ...speed])).exitCode, 0);
    return performance.now() - start;
  };
  const real = await duration(['--speed', '1']);
  t.ok(real >= recordedMs * 0.8, `${real} ms for ${recordedMs} ms`);
  t.ok((await duration(['--speed', '1000'])) < real);
  t.match((await run([file, '--replay', recording, '--speed', '0'])).stderr, /expected a number above 0/);
});

test("a vendor's key is in no line, recording, error or metric", async (t) => {
  process.env['VENDOR_KEY'] = SECRET;
  t.teardown(() => {
    delete process.env['VENDOR_KEY'];
  });
  const exchange = await LocalExchange.start(t, 'kraken', []);
  const [, address] = /pairs_url: "([^"]*)"/.exec(exchange.definition)!;
  const recording = join(FOLDER, 'secret.jsonl');
  const file = join(FOLDER, 'secret.yaml');
  writeFileSync(
    file,
    `sources:
  good: { kind: http, url: "${address}", every: 1s, price: "$.error", headers: { X-Key: { env: VENDOR_KEY } } }
  refused: { kind: http, url: "http://127.0.0.1:1/?apikey=${SECRET}", every: 1s, price: "$.a" }
  invalid: { kind: http, url: "${address}", every: 1s, price: "$.a", headers: { X-Key: { env: VENDOR_LINES } } }
  ended: { kind: command, run: [/bin/sh, -c, "exit 3", ${SECRET}] }
  gone: { kind: command, run: [/nowhere/program, ${SECRET}] }
  socket: { kind: kraken, url: "ws://127.0.0.1:1/?key=${SECRET}", pairs_url: "http://127.0.0.1:1/?key=${SECRET}" }
assets:
  A: { from: [good A, refused A, invalid A, ended A, gone A, socket BTC/USD] }
`,
  );
  process.env['VENDOR_LINES'] = `${SECRET}\nX-Other: 1`;
  t.teardown(() => {
    delete process.env['VENDOR_LINES'];
  });
  const { stdout, stderr, exitCode } = await run([file, '--check', '--record', recording], {}, 3_000);
  t.equal(exitCode, 1);
  for (const name of ['good', 'refused', 'invalid', 'ended', 'gone', 'socket'])
    t.match(stderr, `sources: ${name}: `, `${name} is reported`);
  for (const text of [stdout.join('\n'), stderr, readFileSync(recording, 'utf8')]) t.notMatch(text, SECRET);
  writeFileSync(
    file,
    `sources: { a: { kind: http, url: "ftp://x/${SECRET}", every: 1s, price: $.a, headers: { X-Key: { env: "${SECRET}-" } } } }\nassets: {}`,
  );
  const broken = await run([file]);
  t.equal(broken.exitCode, 2);
  t.notMatch(broken.stderr, SECRET);
});

test('a second signal does not cut the recording', async (t) => {
  const { file } = await market(t);
  const recording = join(FOLDER, 'signalled.jsonl');
  const child = spawn(process.execPath, [MAIN, 'sources', file, '--record', recording]);
  t.teardown(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  while (child.exitCode === null && child.signalCode === null) {
    child.kill();
    await setTimeout(1);
  }
  t.match(readFileSync(recording, 'utf8'), '"wrote"');
});

test('publish --from takes the address of the file, and ends with 2 where the file has an error', async (t) => {
  process.env['TICKSEAL_TOKEN'] = TOKEN;
  const key = join(FOLDER, 'evm.hex');
  writeFileSync(key, '8b558d5fc31eb64bb51d44b4b28658180e96764d5d5ac68e6d124f86f576d9de', { mode: 0o600 });
  const server = await startContractServer();
  t.teardown(() => server.close());
  const { file } = await market(t);
  const text = readFileSync(file, 'utf8').replace(
    'publish: { every',
    `publish: { url: "${server.url}/evm/publish", every`,
  );
  writeFileSync(file, text);
  const recording = join(FOLDER, 'published.jsonl');
  const running = runCommand(registerPublish, [
    'publish',
    '--from',
    file,
    '--key',
    key,
    '--record',
    recording,
  ]);
  await until(
    () => server.received.some((message) => message.includes('BTCUSD')),
    'a message at the address of the file',
  );
  stop();
  t.equal((await running).exitCode, 0);
  // The sources process writes its last lines when it exits, and `publish` does not wait for them.
  await until(
    () => readFileSync(recording, 'utf8').includes('"wrote"'),
    'the recording of the other process',
  );
  const bad = await market(t, 'BTC/UDS');
  const ended = await runCommand(registerPublish, [
    'publish',
    '--from',
    bad.file,
    '--key',
    key,
    '--url',
    server.url,
  ]);
  t.equal(ended.exitCode, 2);
  t.match(await runCommand(registerPublish, ['publish', '--metrics', '127.0.0.1:1', '--key', key, 'A=1']), {
    exitCode: 1,
    stderr: /--metrics needs --from/,
  });
});
