import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { PassThrough } from 'node:stream';
import { type Test, test } from 'tap';
import { registerSubscribe } from '../../src/cli/subscribe_command.js';
import { type ContractServer, startContractServer, TOKEN } from '../client/contract_server.js';
import { startOperator, type TestOperator } from '../client/quorum/operators.js';
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
  t.same(await assetsFor('--type', 'evm', 'BTCUSD'), [1]);
  t.match(await subscribe(server, '--type', 'stark', 'ETHUSD', 'BTCUSD'), {
    stderr: 'subscribe: the service has no stark asset ETHUSD; /v1/taxonomy lists all names\n',
    exitCode: 1,
  });
  t.equal((await subscribe(server, '--type', 'rsa', 'ETHUSD')).exitCode, 1);
});

test('assets that end and return are named, beside the frames', async (t) => {
  const notices = ['"ended":[1,2]', '"returned":[20]', '"ended":[1],"returned":[3]'].map((ids) => `,${ids}`);
  const taxonomy = ['', ...notices].map((ids) => `{"type":"taxonomy"${ids}}`);
  const server = await streaming(t, [...taxonomy, FRAME]);
  t.same(await subscribe(server, '--count', '1', '#1', '#2', '#20'), {
    stdout: [FRAME],
    stderr: [
      'subscribe: from the next frame on, IDs may mean other assets\n',
      'subscribe: the service has no asset #1, #2 any more\n',
      'subscribe: asset #20 is back and subscribed again\n',
      'subscribe: the service has no asset #1 any more; asset #3 is back and subscribed again\n',
    ].join(''),
    exitCode: 0,
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
  t.equal(unnamed.exitCode, 3);
  t.match(
    unnamed.stdout.map((line) => JSON.parse(line)),
    [{ verdict: 'recovered' }, { verdict: 'recovered' }],
  );
  const warning =
    'recovered 0xC4A02e7D370402F4afC36032076B05e74FF81786, NOT verified: --signer names no address';
  t.equal(unnamed.stderr, `subscribe: ${warning}\n`, 'once');
  const plain = await subscribe(server, '--count', '1', '#1');
  t.same(plain.stdout, [SIGNED]);
});

test('whoever names a signer gets signed frames, and is told where they are not', async (t) => {
  const signer = ['--signer', '0xc4a02e7d370402f4afc36032076b05e74ff81786'];
  const server = await streaming(t, [SIGNED]);
  t.match(await subscribe(server, '--count', '1', ...signer, '#1'), {
    stdout: [/"verdict":"verified"/],
    exitCode: 0,
  });
  t.same(server.paths, ['/ws?message_type=signed_ecdsa']);
  const unsigned = await subscribe(await streaming(t, [FRAME, FRAME]), '--count', '2', ...signer, '#1');
  t.same(unsigned, {
    stdout: [FRAME, FRAME],
    stderr: 'subscribe: frames come without a signature to check\n',
    exitCode: 1,
  });
  t.match(await subscribe(server, '--decode', '--message-type', 'unsigned', '#1'), {
    stderr: 'subscribe: frames of --message-type unsigned have no signature to check\n',
    exitCode: 1,
  });
});

test('a long silence is explained: no answer, or no price', async (t) => {
  /** Runs the command. @param onTold called when the command has said what it waits for */
  const told = (url: string, asset: string, onTold: () => void) =>
    runCommand(
      (program, streams) => {
        (streams.stderr as PassThrough).on('data', (text) => String(text).includes('waiting') && onTold());
        registerSubscribe(program, streams, 50);
      },
      ['subscribe', '--url', url, '--count', '1', asset],
    );
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => silent.close());
  const url = `ws://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const unanswered = await told(url, 'BTCUSD', () => sockets.map((socket) => socket.destroy()));
  t.equal(unanswered.exitCode, 1);
  t.match(unanswered.stderr, `subscribe: ${url}: no answer yet; waiting\n`);
  const server = await startContractServer();
  t.teardown(() => server.close());
  let send = () => {};
  server.onSocket = (socket) => {
    send = () => socket.send(FRAME);
  };
  t.same(await told(server.url, '#1', () => send()), {
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
  const wrong = (asset: string) =>
    runCommand(registerSubscribe, ['subscribe', '--url', server.url, '--token', 'wrong', asset]);
  const refusal =
    /^subscribe: --token stands in the list of processes, .+\nsubscribe: \S+: the service does not know this token \(401\): give one .+\n$/;
  t.match(await wrong('#1'), { stderr: refusal, exitCode: 1 });
  t.match(await wrong('BTCUSD'), { stderr: refusal, exitCode: 1 });
  t.equal((await subscribe(server, '--count', '0', '#1')).exitCode, 1);
  t.equal((await subscribe(server, '--channel', '2s', '#1')).exitCode, 1);
  await server.close();
  t.match((await subscribe(server, 'BTCUSD')).stderr, /^subscribe: http:\S+taxonomy: .+\n$/);
  t.match((await subscribe(server, '#1')).stderr, /^subscribe: ws:\S+: nothing listens at this address/);
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
  const unknown = await runCommand(registerSubscribe, ['subscribe', 'NOSUCH', '--quorum', file]);
  t.match(unknown, {
    stdout: [],
    stderr: /subscribe: no such asset: NOSUCH\n$/,
    exitCode: 1,
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
    t.match(await quorum(write(t, content)), {
      stdout: [],
      stderr: message,
      exitCode: 2,
    });
  t.match(await quorum(write(t, cases[0]![0]), '--attrs', 'speed'), {
    stderr: /expected a list of ms,age,/,
    exitCode: 1,
  });
  t.match(await quorum('no/such/file'), {
    stderr: /no\/such\/file: cannot be read: there is no such file/,
    exitCode: 2,
  });
  const both = await quorum(write(t, { operators: [operator, other] }), '--url', 'ws://127.0.0.1:1');
  t.equal(both.exitCode, 1);
});
