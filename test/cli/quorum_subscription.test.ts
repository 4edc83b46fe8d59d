import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
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

test('a quorum is printed as lines, and a liar is named', async (t) => {
  const operators = await Promise.all([0, 1, 2].map((n) => startOperator(n)));
  for (const { server } of operators) t.teardown(() => server.close());
  const [a, b, c] = operators as [TestOperator, TestOperator, TestOperator];
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

test('a file with errors names each, with its place', async (t) => {
  const operator = { name: 'a', urls: ['https://a.example.com'], signers: ['0x1'] };
  const other = { ...operator, name: 'b', urls: ['https://b.example.com'], signers: ['0x2'] };
  const cases: readonly [unknown, RegExp][] = [
    ['operators: [', /quorum\.yaml:1:\d+: /],
    [{ operators: [operator] }, /quorum\.yaml:1:2 operators: expected a list/],
    [{ operators: [operator, { ...other, signer: '0x2' }] }, /operators\[1\]\.signer: unknown key/],
    [{ operators: [operator, { ...other, signers: ['x'] }] }, /operators\[1\]\.signers\[0\]: expected 0x/],
    [{ operators: [operator, { ...other, urls: ['b'] }] }, /operators\[1\]\.urls\[0\]: expected an address/],
    [
      { operators: [operator, { ...other, signers: ['0x01'] }] },
      /\[1\]\.signers: 0x01 belongs to operators\[0\] too/,
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
