import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { registerMcp } from '../../src/cli/mcp_command.js';
import { registerPrice } from '../../src/cli/price_command.js';
import { registerSubscribe } from '../../src/cli/subscribe_command.js';
import { createClient, type Tick, type TicksealError } from '../../src/client/node.js';
import { runCommand } from '../cli/run_command.js';
import { Feed, units } from './feed.js';
import { startTestService, type TestService, TOKEN } from './harness.js';

// Attacks by a proxy that holds no key: it changes the answers of `/v1/taxonomy`, and passes on everything else.

const ASSETS = [
  { id: 1, symbol: 'A1' },
  { id: 2, symbol: 'A2' },
];
const PRICES = { A1: units(100), A2: units(5_000) };

interface Answer {
  taxonomy_id: number;
  statement?: string;
  assets: { asset_id: number; name: string }[];
}

const swap = (answer: Answer): void => {
  const [one, other] = answer.assets as [Answer['assets'][0], Answer['assets'][0]];
  [one.asset_id, other.asset_id] = [other.asset_id, one.asset_id];
};

/** Starts a proxy. @returns its address, with `http` */
async function startProxy(
  t: Test,
  service: { readonly url: string; readonly sockets?: Set<Duplex> },
  change: (answer: Answer) => void,
): Promise<string> {
  const server = createServer(async ({ url = '', headers }, response) => {
    const { authorization } = headers;
    const answer = await fetch(service.url + url, { headers: authorization ? { authorization } : {} });
    let body = await answer.text();
    if (url === '/v1/taxonomy') {
      const { data } = JSON.parse(body) as { data: Answer };
      change(data);
      body = JSON.stringify({ data });
    }
    response.writeHead(answer.status).end(body);
  });
  server.on('upgrade', ({ method, url, rawHeaders }, socket) => {
    service.sockets?.add(socket);
    const upstream = connect(Number(new URL(service.url).port), '127.0.0.1');
    const lines = rawHeaders.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`));
    upstream.write(`${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n`);
    upstream.pipe(socket).pipe(upstream);
    for (const one of [upstream, socket]) {
      one.on('error', () => {});
      one.on('close', () => [upstream, socket].map((each) => each.destroy()));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function startPriced(
  t: Test,
  keys?: Parameters<typeof startTestService>[1],
  sections: Parameters<typeof startTestService>[0] = { assets: ASSETS },
): Promise<TestService> {
  const service = await startTestService(sections, keys);
  t.teardown(() => service.stop());
  const feed = await Feed.open(service);
  for (const [symbol, price] of Object.entries(PRICES)) await feed.accept({ symbol, price });
  return service;
}

process.env['TICKSEAL_TOKEN'] = TOKEN;

test('a proxy that swaps or strips the meanings of IDs makes no verified price', async (t) => {
  const service = await startPriced(t);
  const { statement } = (
    (await (
      await fetch(`${service.url}/v1/taxonomy`, { headers: { authorization: `Basic ${TOKEN}` } })
    ).json()) as { data: Answer }
  ).data;
  const other = await startTestService({ assets: [...ASSETS, { id: 3, symbol: 'A3' }] });
  t.teardown(() => other.stop());
  const changes: Readonly<Record<string, (answer: Answer) => void>> = {
    swaps: swap,
    'swaps and strips': (answer) => {
      swap(answer);
      delete answer.statement;
    },
    'serves the statement of another list': (answer) => {
      swap(answer);
      answer.statement = statement!.slice(0, 4) + statement!.slice(4).replace(/.$/, '0');
    },
    'repeats an ID': (answer) => {
      answer.assets.push({ ...answer.assets[0]!, asset_id: 2 });
    },
  };
  for (const [name, change] of Object.entries(changes)) {
    const url = await startProxy(t, service, change);
    const client = createClient({ urls: url, token: TOKEN, signers: [service.evmAddress] });
    const errors: TicksealError[] = [];
    client.on('error', (error) => errors.push(error));
    const ticks: Tick[] = [];
    const stream = client.stream(['A1', 'A2'], { channel: '20ms' });
    void (async () => {
      for await (const tick of stream) ticks.push(tick);
    })().catch(() => {});
    await eventually(() => errors.length > 1);
    t.match(errors[0], { name: /^(?:UnsignedMapping|Protocol)Error$/ }, name);
    t.same(ticks, [], name);
    await client.close();
    const subscribe = await runCommand(registerSubscribe, [
      ...['subscribe', '--url', url.replace('http', 'ws'), '--signer', service.evmAddress],
      ...['--count', '1', 'A1'],
    ]);
    t.match(subscribe, { stdout: [], stderr: /unsigned mapping|an ID is repeated/, exitCode: 1 }, name);
    // Aggregates sign the symbol, so these commands need no mapping.
    const price = await runCommand(registerPrice, [
      ...['price', '--url', url.replace('http', 'ws'), '--signer', service.evmAddress, 'A1', 'A2'],
    ]);
    t.match(price.stdout, [/^A1 100 .*verified/, /^A2 5000 .*verified/], name);
  }
});

test('a model learns no wrong price through a proxy', async (t) => {
  const service = await startPriced(t);
  const url = await startProxy(t, service, swap);
  const call = (id: number, name: string, args: object) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })}\n`;
  const { stdout } = await runCommand(
    registerMcp,
    ['mcp', '--url', url.replace('http', 'ws'), '--signer', service.evmAddress],
    { stdin: [call(1, 'latest', { symbols: ['A1', 'A2'] }), call(2, 'search', { query: '' })] },
  );
  const text = stdout.join('\n');
  t.match(text, /A1/);
  t.notMatch(text, /"A1[^}]*5000/);
  t.match(text, /unsigned mapping/, 'a list of assets that is not signed is not shown');
});
