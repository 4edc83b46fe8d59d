import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { registerLog } from '../../src/cli/log_command.js';
import { registerSubscribe } from '../../src/cli/subscribe_command.js';
import { TOKEN } from '../client/contract_server.js';
import { startOperator, type TestOperator } from '../client/quorum/operators.js';
import { runCommand } from './run_command.js';

const SEND_INTERVAL_MS = 50;

function write(t: Test, content: unknown): string {
  const file = join(t.testdir(), 'quorum.yaml');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const subscribe = (file: string, ...args: string[]) =>
  runCommand(registerSubscribe, ['subscribe', 'BTCUSD', '--quorum', file, ...args]);

/** Sends the operators' prices until the test ends, because a stream needs some time to subscribe. */
function sendPrices(t: Test, prices: readonly (readonly [TestOperator, bigint])[]): void {
  const timer = setInterval(() => {
    for (const [operator, price] of prices) operator.send('BTCUSD', price);
  }, SEND_INTERVAL_MS);
  t.teardown(() => clearInterval(timer));
}

/** Starts three operators, which end with the test. */
async function startThree(t: Test): Promise<[TestOperator, TestOperator, TestOperator]> {
  const [a, b, c] = await Promise.all([startOperator(0), startOperator(1), startOperator(2)]);
  for (const { server } of [a, b, c]) t.teardown(() => server.close());
  return [a, b, c];
}

const HONEST = 100_000n;
const LIE = 105_000n;
const HOUR_MS = 3_600_000;

/** Faults of one of three operators: its frames, and its verdict in the line. */
const FAULTS: readonly (readonly [name: string, verdict: RegExp, send: (one: TestOperator) => void])[] = [
  ['lies by 5 %', /^differs$/, (one) => one.send('BTCUSD', LIE)],
  ['is 10 s old', /^(old|ahead|failed)$/, (one) => one.send('BTCUSD', LIE, Date.now() - 10_000)],
  [
    'has a clock an hour behind',
    /^(old|ahead|failed)$/,
    (one) => one.send('BTCUSD', LIE, Date.now() - HOUR_MS),
  ],
  [
    'has a clock an hour ahead',
    /^(old|ahead|failed)$/,
    (one) => one.send('BTCUSD', LIE, Date.now() + HOUR_MS),
  ],
  ['sends nothing', /^silent$/, () => {}],
];

for (const [name, verdict, send] of FAULTS)
  test(`the line has the honest price while one operator ${name}`, async (t) => {
    const [a, b, c] = await startThree(t);
    const timer = setInterval(() => {
      send(c);
      for (const one of [a, b]) one.send('BTCUSD', HONEST);
    }, SEND_INTERVAL_MS);
    t.teardown(() => clearInterval(timer));
    process.env['TICKSEAL_TOKEN'] = TOKEN;
    const { stdout, exitCode } = await subscribe(fileOf(t, [a, b, c]), '--count', '5');
    t.equal(exitCode, 0);
    const lines = stdout.map((line) => JSON.parse(line));
    t.same([...new Set(lines.map(({ price }) => price))], [String(HONEST)]);
    t.match(lines.at(-1), { verdict: 'verified 2 of 3', operators: [{}, {}, { operator: 'c', verdict }] });
  });

test('a replay and an operator that is gone leave the price to the others; with one left there is none', async (t) => {
  const [a, b, c] = await startThree(t);
  const replayed = c.send('BTCUSD', LIE, Date.now() - 20_000);
  const timer = setInterval(() => {
    c.server.broadcast(replayed);
    for (const one of [a, b]) one.send('BTCUSD', HONEST);
  }, SEND_INTERVAL_MS);
  t.teardown(() => clearInterval(timer));
  process.env['TICKSEAL_TOKEN'] = TOKEN;
  const file = fileOf(t, [a, b, c]);
  const replay = await subscribe(file, '--count', '3');
  t.same([...new Set(replay.stdout.map((line) => JSON.parse(line).price))], [String(HONEST)]);
  await c.server.close();
  const gone = await subscribe(file, '--count', '3');
  t.same([...new Set(gone.stdout.map((line) => JSON.parse(line).price))], [String(HONEST)]);
  await b.server.close();
  const lone = subscribe(file, '--count', '1');
  const stop = setTimeout(() => process.emit('SIGINT'), 3_000);
  t.teardown(() => clearTimeout(stop));
  const { stdout, stderr } = await lone;
  t.same(stdout, [], 'no price of one operator');
  t.match(stderr, /BTCUSD: .*(1 of 3|too few|operators)/);
});

function fileOf(t: Test, operators: readonly TestOperator[]): string {
  return write(t, {
    max_spread_percent: 1,
    max_age: '5s',
    operators: operators.map(({ options: { urls, token: _token, ...rest } }) => ({
      ...rest,
      urls: [urls].flat(),
      token: { env: 'TICKSEAL_TOKEN' },
    })),
  });
}

test('a quorum is printed as lines, and a liar is named', async (t) => {
  const operators = await startThree(t);
  const [a, b, c] = operators;
  const tokenFile = join(t.testdir(), 'b.token');
  const file = write(t, {
    max_spread_percent: 1,
    operators: operators.map(({ options: { urls, token, ...rest } }, i) => ({
      ...rest,
      urls: [urls],
      token: i === 1 ? { file: 'b.token' } : { env: 'TICKSEAL_TOKEN' },
    })),
  });
  writeFileSync(tokenFile, `${TOKEN}\n`);
  chmodSync(tokenFile, 0o600);
  process.env['TICKSEAL_TOKEN'] = TOKEN;
  sendPrices(t, [
    [c, 105_000n],
    [a, 100_000n],
    [b, 100_100n],
  ]);
  const { stdout, exitCode } = await subscribe(file, '--count', '2');
  t.equal(exitCode, 0);
  t.match(JSON.parse(stdout[1]!), {
    symbol: 'BTCUSD',
    price: '100050',
    decimal: '0.00000000000010005',
    verdict: /^verified [23] of 3$/,
    signers: [a.options.signers[0], b.options.signers[0]],
    operators: [{ operator: 'a', verdict: 'agrees' }, { operator: 'b' }, { operator: 'c' }],
  });
  const unknown = await runCommand(registerSubscribe, ['subscribe', 'NOSUCH', '--quorum', file]);
  t.match(unknown, { stdout: [], stderr: /subscribe: no such asset: NOSUCH\n$/, exitCode: 1 });
});

test('an operator that signs two values is named with its evidence, and counts no more', async (t) => {
  const [a, b, c] = await startThree(t);
  const second = await c.startSecond();
  t.teardown(() => second.close());
  const madeMs = Date.now();
  const [one, other] = [c.frame('BTCUSD', HONEST, madeMs), c.frame('BTCUSD', HONEST + 1n, madeMs)];
  const timer = setInterval(() => {
    for (const operator of [a, b]) operator.send('BTCUSD', HONEST);
    c.server.broadcast(one);
    second.broadcast(other);
  }, SEND_INTERVAL_MS);
  t.teardown(() => clearInterval(timer));
  process.env['TICKSEAL_TOKEN'] = TOKEN;
  const file = fileOf(t, [
    a,
    b,
    { ...c, options: { ...c.options, urls: [c.server.url, second.url] as never } },
  ]);
  const { stdout, stderr } = await subscribe(file, '--count', '40');
  t.match(JSON.parse(stdout.at(-1)!), {
    price: String(HONEST),
    verdict: 'verified 2 of 3',
    operators: [{}, {}, { operator: 'c', verdict: 'equivocates', reason: /signed two values of BTCUSD/ }],
  });
  const evidence = join(t.testdir(), 'evidence.json');
  writeFileSync(
    evidence,
    stderr.split('\n').find((line) => line.startsWith('{"format":"tickseal-evidence'))!,
  );
  const proof = await runCommand(registerLog, ['log', 'verify', evidence, '--signer', c.options.signers[0]!]);
  t.match(proof, { stdout: [/^PROVEN: 0x\w+ signed two values of asset 300 of taxonomy 12/], exitCode: 0 });
});

test('a file with errors names each, with its place', async (t) => {
  const operator = { name: 'a', urls: ['https://a.example.com'], signers: [`0x${'a'.repeat(40)}`] };
  const other = { ...operator, name: 'b', urls: ['https://b.example.com'], signers: [`0x${'b'.repeat(40)}`] };
  const cases: readonly [unknown, RegExp][] = [
    ['operators: [', /quorum\.yaml:1:\d+: /],
    [{ operators: [operator] }, /quorum\.yaml:1:2 operators: expected a list/],
    [{ operators: [operator, { ...other, signer: '0x2' }] }, /operators\[1\]\.signer: unknown key/],
    [
      { operators: [operator, { ...other, signers: ['x'] }] },
      /operators\[1\]\.signers\[0\]: expected a key: x is neither an address/,
    ],
    [{ operators: [operator, { ...other, urls: ['b'] }] }, /operators\[1\]\.urls\[0\]: expected an address/],
    [
      { operators: [operator, { ...other, signers: [`0x${'A'.repeat(40)}`] }] },
      /\[1\]\.signers: 0xA+ belongs to operators\[0\] too/,
    ],
    [{ operators: [operator, other], threshold: 1 }, /threshold: /],
    [{ operators: [operator, other], threshold: 3 }, /threshold: must be 2 to 2/],
    [{ operators: [operator, other], max_age: '5' }, /max_age: expected a duration/],
    [{ operators: [operator, { ...other, token: { env: 'NO_SUCH_VARIABLE' } }] }, /\[1\]\.token\.env: /],
  ];
  for (const [content, message] of cases)
    t.match(await subscribe(write(t, content)), { stdout: [], stderr: message, exitCode: 2 });
  t.match(await subscribe('no/such/file'), {
    stderr: /no\/such\/file: cannot be read \(ENOENT\)/,
    exitCode: 2,
  });
  const both = await subscribe(write(t, { operators: [operator, other] }), '--url', 'ws://127.0.0.1:1');
  t.equal(both.exitCode, 1);
});
