import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PassThrough } from 'node:stream';
import { type Test, test } from 'tap';
import { registerSubscribe } from '../../src/cli/subscribe_command.js';
import { type ContractServer, startContractServer, TOKEN } from '../client/contract_server.js';
import { startOperator } from '../client/quorum/operators.js';
import { runCommand } from './run_command.js';

const FRAME = '{"type":"unsigned","tax":1,"ts":1757543080505451011,"a":[{"id":1,"v":"5"}]}';
const SIGNED =
  '{"type":"signed_ecdsa","p":"0x690a1cce3cf72e889b699ef800fb80ba47c123ce7422517bfcd2ce0c701423a12938fb6fcf4424c21e39688cd41dd8919b149642b590328ada7532c88b5f0d6b010001187f4dcc627041f8000100000000000000056bc75e2d63100000"}';

/** Starts a service that sends `frames` after the first message of each connection. */
async function streaming(t: { teardown: (close: () => Promise<void>) => void }, frames: string[]) {
  const server = await startContractServer();
  t.teardown(() => server.close());
  server.onSocket = (socket) =>
    socket.once('message', () => {
      for (const frame of frames) socket.send(frame);
    });
  return server;
}

// The token is set here, because a token in an argument causes a warning.
process.env['TICKSEAL_TOKEN'] = TOKEN;

function subscribe(server: ContractServer, ...args: string[]) {
  return runCommand(registerSubscribe, ['subscribe', '--url', server.url, ...args]);
}

test('frames are printed as they come, symbols are resolved', async (t) => {
  const server = await streaming(t, [FRAME, FRAME, FRAME]);
  const result = await subscribe(server, '--count', '2', '--channel', '1s', '--attrs', 'ms', 'EURUSD', '#1');
  t.same(result, { stdout: [FRAME, FRAME], stderr: '', exitCode: 0 });
  t.same(server.paths, ['/ws?channel=1s&addtl_attrs=ms']);
  t.match(JSON.parse(server.received[0]!), { type: 'subscribe', assets: [20, 1] });
});

test('a symbol that has both signature types stands for its EVM asset, unless the caller names the type', async (t) => {
  const server = await streaming(t, [FRAME]);
  const assetsFor = async (...args: string[]) => {
    t.same((await subscribe(server, '--count', '1', ...args)).stderr, '');
    return JSON.parse(server.received.at(-1)!).assets;
  };
  t.same(await assetsFor('BTCUSD', 'DYDXUSD'), [1, 41]);
  t.same(await assetsFor('--type', 'stark', 'BTCUSD', 'DYDXUSD', '#2'), [40, 41, 2]);
  t.match(await subscribe(server, '--type', 'stark', 'ETHUSD', 'BTCUSD'), {
    stderr: 'subscribe: the service has no stark asset ETHUSD; /v1/taxonomy lists all names\n',
    exitCode: 1,
  });
});

test('signed frames are decoded, and their signer checked', async (t) => {
  const server = await streaming(t, [SIGNED]);
  const args = ['--count', '1', '--message-type', 'signed_ecdsa', '--decode', '#1'];
  const good = await subscribe(server, ...args, '--signer', '0xc4a02e7d370402f4afc36032076b05e74ff81786');
  t.equal(good.exitCode, 0);
  t.same(good.stdout, [
    '{"type":"signed_ecdsa","tax":1,"ts":1765215119172715000,"a":[{"id":1,"v":"100000000000000000000"}],"signer":"0xC4A02e7D370402F4afC36032076B05e74FF81786","verdict":"verified","failed":[]}',
  ]);
  const bad = await subscribe(server, ...args, '--signer', `0x${'1'.repeat(40)}`);
  t.equal(bad.exitCode, 1);
  t.match(JSON.parse(bad.stdout[0]!), { verdict: 'failed', failed: [/^signer: signed by 0xC4A0/] });
  const unnamed = await subscribe(await streaming(t, [SIGNED, SIGNED]), '--count', '2', ...args.slice(2));
  t.match(unnamed, { exitCode: 3, stdout: [/"verdict":"recovered"/, /"verdict":"recovered"/] });
  const warning =
    'recovered 0xC4A02e7D370402F4afC36032076B05e74FF81786, NOT verified: --signer names no address';
  t.equal(unnamed.stderr, `subscribe: ${warning}\n`, 'once');
});

test('whoever names a signer gets signed frames, and is told where they are not', async (t) => {
  const signer = ['--signer', '0xc4a02e7d370402f4afc36032076b05e74ff81786'];
  const server = await streaming(t, [FRAME, FRAME]);
  const unsigned = await subscribe(server, '--count', '2', ...signer, '#1');
  t.same(server.paths, ['/ws?message_type=signed_ecdsa']);
  t.same(unsigned, {
    stdout: [FRAME, FRAME],
    stderr: 'subscribe: frames come without a signature to check\n',
    exitCode: 1,
  });
});

test('a long silence is explained', async (t) => {
  const server = await streaming(t, []);
  let tell = () => {};
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  server.onSocket = (socket) => void told.then(() => socket.send(FRAME));
  const result = await runCommand(
    (program, streams) => {
      (streams.stderr as PassThrough).on('data', (text) => String(text).includes('waiting') && tell());
      registerSubscribe(program, streams, 1_000);
    },
    ['subscribe', '--url', server.url, '--count', '1', '#1'],
  );
  t.same(result, {
    stdout: [FRAME],
    stderr: `subscribe: ${server.url}: connected, and no price yet; waiting\n`,
    exitCode: 0,
  });
});

test('unknown assets and refusals are one clear line', async (t) => {
  const server = await streaming(t, []);
  t.match(await subscribe(server, 'NOUSD', 'BTCUSD'), {
    stderr: 'subscribe: the service has no asset NOUSD; /v1/taxonomy lists all names\n',
    exitCode: 1,
  });
  t.match(await subscribe(server, '#77'), {
    stderr: 'subscribe: the service says "unknown assets: 77"\n',
    exitCode: 1,
  });
  t.match(await subscribe(server, '--token', 'wrong', '#1'), {
    stderr:
      /^subscribe: --token stands in the list of processes, .+\nsubscribe: \S+: the service does not know this token \(401\): give one .+\n$/,
    exitCode: 1,
  });
  await server.close();
  t.match((await subscribe(server, 'BTCUSD')).stderr, /^subscribe: http:\S+taxonomy: .+\n$/);
});

test('a signal ends it with what it has', async (t) => {
  const server = await streaming(t, [FRAME]);
  const before = process.listenerCount('SIGTERM');
  const running = runCommand(registerSubscribe, ['subscribe', '--url', server.url, '#1'], {
    onStdout: (stdout) => stdout.once('data', () => process.emit('SIGTERM')),
  });
  t.match(await running, { stdout: [FRAME], stderr: '', exitCode: 0 });
  t.equal(process.listenerCount('SIGTERM'), before);
});

const SEND_INTERVAL_MS = 50;

function write(t: Test, content: unknown): string {
  const file = join(t.testdir(), 'quorum.yaml');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const quorum = (file: string, ...args: string[]) =>
  runCommand(registerSubscribe, ['subscribe', 'BTCUSD', '--quorum', file, ...args]);

test('a quorum is printed as lines, and a liar is named', async (t) => {
  const operators = await Promise.all([startOperator(0), startOperator(1), startOperator(2)]);
  for (const { server } of operators) t.teardown(() => server.close());
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
  // The prices are sent until the test ends, because a stream needs some time to subscribe.
  const timer = setInterval(() => {
    c.send('BTCUSD', 105_000n);
    a.send('BTCUSD', 100_000n);
    b.send('BTCUSD', 100_100n);
  }, SEND_INTERVAL_MS);
  t.teardown(() => clearInterval(timer));
  const { stdout, exitCode } = await quorum(file, '--count', '2');
  t.equal(exitCode, 0);
  t.match(JSON.parse(stdout[1]!), {
    symbol: 'BTCUSD',
    price: '100050',
    decimal: '0.00000000000010005',
    verdict: /^verified [23] of 3$/,
    signers: [a.options.signers[0], b.options.signers[0]],
    operators: [{ operator: 'a', verdict: 'agrees' }, { operator: 'b' }, { operator: 'c' }],
  });
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
    [
      { operators: [operator, { ...other, signers: [`0x${'A'.repeat(40)}`] }] },
      /\[1\]\.signers: 0xA+ belongs to operators\[0\] too/,
    ],
    [{ operators: [operator, other], threshold: 3 }, /threshold: must be 2 to 2/],
    [{ operators: [operator, { ...other, token: { env: 'NO_SUCH_VARIABLE' } }] }, /\[1\]\.token\.env: /],
  ];
  for (const [content, message] of cases)
    t.match(await quorum(write(t, content)), { stdout: [], stderr: message, exitCode: 2 });
  const both = await quorum(write(t, { operators: [operator, other] }), '--url', 'ws://127.0.0.1:1');
  t.equal(both.exitCode, 1);
});
