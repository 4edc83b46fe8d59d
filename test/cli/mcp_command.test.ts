import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { z } from 'zod';
import { CALLS_MAX, LINE_CHARACTERS_MAX, McpSession, type McpTool } from '../../src/cli/mcp/mcp_session.js';
import { registerMcp } from '../../src/cli/mcp_command.js';
import { publisherSigner, startTestService, type TestService, TOKEN } from '../service/harness.js';
import { latestText, latestWhen, openPublisher, publish, UNIT } from '../service/publishing.js';
import { runCommand } from './run_command.js';

const OTHER_SIGNER = `0x${'ab'.repeat(20)}`;
const VERSION = '2025-06-18';

interface Answer {
  readonly id: unknown;
  readonly result?: {
    readonly content?: readonly { readonly text: string }[];
    readonly structuredContent?: Record<string, unknown>;
    readonly isError?: boolean;
    readonly [name: string]: unknown;
  };
  readonly error?: { readonly code: number; readonly message: string };
}

const request = (id: unknown, method: string, params?: object) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
const call = (id: number, name: string, args?: unknown) =>
  request(id, 'tools/call', { name, arguments: args });

/** Runs a session with these input lines. @returns the answers, in order of arrival */
async function answersTo(
  tools: readonly McpTool[],
  lines: Iterable<string> | AsyncIterable<string>,
): Promise<Answer[]> {
  const written: string[] = [];
  const session = new McpSession({
    name: 'tickseal',
    version: '1',
    instructions: 'none',
    tools,
    write: (line) => void written.push(line),
    drained: async () => {},
  });
  await session.run(
    (async function* () {
      yield* lines;
    })(),
  );
  return written.map((line) => JSON.parse(line) as Answer);
}

function tool(name: string, handle: () => Promise<object>): McpTool {
  return {
    name,
    title: name,
    description: name,
    input: z.strictObject({ n: z.string().max(1) }),
    call: handle,
  };
}

test('messages are answered by the rules of JSON-RPC and of the protocol', async (t) => {
  const answers = await answersTo(
    [
      tool('fails', async () => {
        throw new Error('no service');
      }),
    ],
    [
      request('first', 'initialize', { protocolVersion: VERSION, capabilities: {}, clientInfo: {} }),
      request(2, 'initialize', { protocolVersion: '2099-01-01' }),
      request(3, 'initialize', {}),
      '{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
      '\n{\n',
      '[]\n',
      '{"id":4,"method":"ping"}\n',
      '{"jsonrpc":"2.0","id":6,"method":"ping","params":[]}\n',
      request(7, 'resources/list'),
      call(9, 'nothing'),
      call(10, 'fails', { n: 10, m: 1 }),
      call(11, 'fails', { n: '9' }),
      `"${'x'.repeat(LINE_CHARACTERS_MAX)}"\n`,
      request('last', 'ping'),
    ],
  );
  const of = (id: unknown) => answers.filter((answer) => answer.id === id);
  const serverInfo = { name: 'tickseal' };
  t.match(of('first')[0]?.result, { protocolVersion: VERSION, capabilities: { tools: {} }, serverInfo });
  t.equal(of(2)[0]?.result?.['protocolVersion'], VERSION, 'the newest that the server speaks');
  t.same(
    [3, 4, 6, 7, 9].map((id) => of(id)[0]?.error?.code),
    [-32602, -32600, -32602, -32601, -32602],
  );
  t.same(
    of(null).map(({ error }) => error?.code),
    [-32700, -32600, -32700],
  );
  t.match(of(9)[0]?.error?.message, /no tool nothing, only fails/);
  for (const [id, text] of [
    [10, /^n: .*expected string, received number; .*m/],
    [11, /^no service$/],
  ] as const) {
    t.equal(of(id)[0]?.result?.isError, true);
    t.match(of(id)[0]?.result?.content?.[0]?.text, text);
  }
  t.same(of('last')[0]?.result, {});
  t.equal(answers.length, 13);
});

test('calls are bounded', async (t) => {
  const waiting: (() => void)[] = [];
  let started = 0;
  const slow = tool('slow', () => {
    started += 1;
    return new Promise((resolve) => waiting.push(() => resolve({})));
  });
  async function* lines() {
    for (let id = 0; id < CALLS_MAX; id += 1) yield call(id, 'slow', { n: '' });
    await new Promise(setImmediate);
    throw new Error('a line was read above the bound');
  }
  const overfull = answersTo([slow], lines()).catch((error: Error) => error.message);
  await new Promise(setImmediate);
  t.equal(started, CALLS_MAX);
  for (const release of waiting.splice(0)) release();
  t.equal(await overfull, 'a line was read above the bound', 'the next line is read when there is room');
});

test('the tools answer with exact prices and a verdict', async (t) => {
  const service = await startTestService(t, {
    assets: [
      { id: 1, symbol: 'BTCUSD' },
      { id: 2, symbol: 'AAPL', name: 'Apple', class: 'stocks', calendar: 'us_equities' },
      { id: 3, symbol: 'EURUSD', calendar: 'forex' },
    ],
  });
  const socket = await openPublisher(service);
  t.teardown(() => socket.ws.terminate());
  const price = 100n * UNIT + 1n;
  for (const symbol of ['BTCUSD', 'AAPL']) {
    const timestampNs = BigInt(Date.now()) * 1_000_000n;
    await publish(socket, [publisherSigner(1).sign({ symbol, price, timestampNs })]);
    await latestWhen(service, symbol);
  }
  const file = tokenFile(t);
  const trusted = ['--signer', service.evmAddress];
  const saved = await latestText(service, 'BTCUSD');

  const [latest, search, status, verify, forged, bad] = await ask(service, file, trusted, [
    ['latest', { symbols: ['BTCUSD', 'AAPL', 'EURUSD', 'btcusd'] }],
    ['search', { query: 'apple' }],
    ['market_status', { symbol: 'AAPL' }],
    ['verify', { text: saved }],
    ['verify', { text: saved.replaceAll('"price":"1', '"price":"2') }],
    ['at', { symbols: ['BTCUSD'], time: '1795298519000' }],
  ]);
  const expected = {
    price: '100.000000000000000001',
    price_times_1e18: String(price),
    signed_at_ns: /^\d{19}$/,
    age_ms: Number,
    publishers: 1,
    signer: service.evmAddress,
    verdict: 'verified',
  };
  t.match(latest, {
    prices: [
      { symbol: 'BTCUSD', ...expected },
      { symbol: 'AAPL', ...expected },
      { symbol: 'EURUSD', verdict: 'no price', reason: 'it has no live price now' },
      { symbol: 'btcusd', verdict: 'unknown asset', reason: /for this token; did you mean BTCUSD\?$/ },
    ],
  });
  t.match(search, {
    assets: [{ symbol: 'AAPL', name: 'Apple', class: 'stocks', has_trading_hours: true }],
    found: 1,
    verdict: 'not signed',
  });
  t.match(status, { symbol: 'AAPL', status: String, next: String, changes_at: /Z$/, verdict: 'not signed' });
  t.match(verify, { results: [{ symbol: 'BTCUSD', verdict: 'verified', signer: service.evmAddress }] });
  t.match(forged, { results: [{ symbol: 'BTCUSD', verdict: 'failed', reason: /msg_hash/ }] });
  t.match(bad, /^time: expected a time .* UNIX seconds or nanoseconds$/);

  const ofBtc: Parameters<typeof ask>[3] = [['latest', { symbols: ['BTCUSD'] }]];
  const [failed] = await ask(service, file, ['--signer', OTHER_SIGNER], ofBtc);
  t.match(failed, { prices: [{ symbol: 'BTCUSD', verdict: 'failed', reason: /signer|signed by/ }] });
  t.notMatch(JSON.stringify(failed), /100\.0/, 'a price that is not verified is not told');
  const [unchecked] = await ask(service, file, [], ofBtc);
  t.match(unchecked, { prices: [{ verdict: 'not verified', reason: /--signer/ }] });
});

function tokenFile(t: Test): string {
  const file = join(t.testdir(), 'token');
  writeFileSync(file, `${TOKEN}\n`, { mode: 0o600 });
  return file;
}

/** Calls tools of the command. @returns the content of each answer, or the text of its error */
async function ask(
  service: TestService,
  file: string,
  options: readonly string[],
  calls: readonly (readonly [name: string, args: object])[],
): Promise<unknown[]> {
  const { stdout } = await runCommand(
    registerMcp,
    ['mcp', '--url', service.url, '--token-file', file, ...options],
    {
      stdin: calls.map(([name, args], id) => call(id, name, args)),
    },
  );
  const answers = stdout.map((line) => JSON.parse(line) as Answer);
  return calls.map((_, id) => {
    const { result } = answers.find((answer) => answer.id === id)!;
    return result?.isError === true ? result.content?.[0]?.text : result?.structuredContent;
  });
}
