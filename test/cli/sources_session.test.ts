import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { LocalExchange } from '../../scripts/load/local_exchange.js';
import { registerSources } from '../../src/cli/sources_command.js';
import { runCommand } from './run_command.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'tickseal-session-'));
process.once('exit', () => rmSync(FOLDER, { recursive: true }));
const SECRET = 'hidden-key-of-a-vendor-0123456789abcdef';

let files = 0;

/** Writes a sources file with two local exchanges. Both quote a middle price of 100. */
async function market(t: Test, pair = 'BTC/USD'): Promise<{ file: string; exchanges: LocalExchange[] }> {
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
`,
  );
  return { file, exchanges };
}

const run = (args: readonly string[], checkMs = 1_500) =>
  runCommand(
    (program, streams) => registerSources(program, streams, { checkMs, tableMs: 20 }),
    ['sources', ...args],
  );

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

test("a vendor's key is in no line, recording, error or metric", async (t) => {
  process.env['VENDOR_KEY'] = SECRET;
  process.env['VENDOR_LINES'] = `${SECRET}\nX-Other: 1`;
  t.teardown(() => {
    delete process.env['VENDOR_KEY'];
    delete process.env['VENDOR_LINES'];
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
  const { stdout, stderr, exitCode } = await run([file, '--check', '--record', recording], 3_000);
  t.equal(exitCode, 1);
  for (const name of ['good', 'refused', 'invalid', 'ended', 'gone', 'socket'])
    t.match(stderr, `sources: ${name}: `, `${name} is reported`);
  for (const text of [stdout.join('\n'), stderr, readFileSync(recording, 'utf8')]) t.notMatch(text, SECRET);
});
