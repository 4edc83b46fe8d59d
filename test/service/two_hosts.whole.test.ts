import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Test, test } from 'tap';
import { LocalExchange } from '../../scripts/load/local_exchange.js';
import { eventually } from '../../scripts/load/wait.js';
import { units } from './feed.js';
import { get, publisherSigner, startTestService, type TestService, TOKEN, withTokens } from './harness.js';
import type { Aggregate } from './publishing.js';

// Tests of `tickseal publish --from` on two hosts for one service.

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
/** The interval at which an exchange repeats its price. */
const SHOW_MS = 200;
/** The token of the second host. The service takes a repeated price only from the token that sent it first. */
const OTHER_TOKEN = 'other-token';
const ASSETS = [
  { id: 1, symbol: 'BTCUSD', max_age: '2s', min_publishers: 2 },
  { id: 2, symbol: 'ETHUSD', max_age: '2s' },
];

interface Host {
  readonly exchange: LocalExchange;
  /** Returns the lines of both outputs. */
  output(): string;
  stop(): Promise<void>;
}

/** Starts `publish --from` with a separate exchange, which has the same price for both pairs. */
async function startHost(
  t: Test,
  service: TestService,
  key: number,
  price: number,
  token = TOKEN,
): Promise<Host> {
  const exchange = await LocalExchange.start(t, 'kraken', ['BTC/USD', 'ETH/USD']);
  const show = () => {
    for (const pair of ['BTC/USD', 'ETH/USD'])
      exchange.show(pair, String(price - 0.5), String(price + 0.5), Date.now());
  };
  show();
  const timer = setInterval(show, SHOW_MS);
  t.teardown(() => clearInterval(timer));
  const folder = mkdtempSync(join(tmpdir(), 'tickseal-host-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'sources.yaml');
  writeFileSync(
    file,
    `sources: { kraken: ${exchange.definition} }
assets:
  BTCUSD: { from: [kraken BTC/USD], min_sources: 1 }
  ETHUSD: { from: [kraken ETH/USD], min_sources: 1 }
publish: { url: "${service.socketUrl}", every: 500ms }
`,
  );
  const child = spawn(process.execPath, [MAIN, 'publish', '--from', file, '--oracle-id', 'tests'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      TICKSEAL_KEY: (key + 0x100).toString(16).padStart(64, '0'),
      TICKSEAL_TOKEN: token,
    },
  });
  const ended = once(child, 'exit');
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (more) => {
      text += more;
    });
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  t.teardown(stop);
  return { exchange, output: () => text, stop };
}

async function latest(service: TestService, symbol: string): Promise<Aggregate | undefined> {
  const answer = await get(`${service.url}/v1/prices/latest?assets=${symbol}`);
  if (answer.status === 404) return undefined;
  return ((await answer.json()) as { data: Record<string, Aggregate> }).data[symbol];
}

const keysOf = ({ signed_prices }: Aggregate) =>
  signed_prices.map(({ publisher_key }) => publisher_key).sort();

test('two hosts with two keys are two publishers', async (t) => {
  const service = await startTestService({ assets: ASSETS });
  t.teardown(() => service.stop());
  await startHost(t, service, 1, 100);
  const second = await startHost(t, service, 2, 102);
  for (const symbol of ['BTCUSD', 'ETHUSD']) {
    const both = await eventually(async () => {
      const price = await latest(service, symbol);
      return price?.signed_prices.length === 2 && price;
    });
    t.equal(both.price, String(units(101)));
    t.same(keysOf(both), [1, 2].map((n) => publisherSigner(n).publicKey).sort());
  }
  await second.stop();
  t.notMatch(second.output(), /replay/);
  t.ok(await eventually(async () => (await latest(service, 'BTCUSD')) === undefined), 'min_publishers: 2');
  const alone = await eventually(async () => {
    const price = await latest(service, 'ETHUSD');
    return price?.signed_prices.length === 1 && price;
  });
  t.equal(alone.price, String(units(100)), 'the other host goes on');
});

test('one key on two hosts is one publisher, and the service refuses repeated prices', async (t) => {
  const service = await startTestService({ ...withTokens(OTHER_TOKEN), assets: ASSETS });
  t.teardown(() => service.stop());
  const hosts = [await startHost(t, service, 1, 100), await startHost(t, service, 1, 100, OTHER_TOKEN)];
  const refused = async () => {
    const text = await (await fetch(`${service.adminUrl}/metrics`)).text();
    return /tickseal_updates_rejected_total\{reason="replay[^"]*"\} [1-9]/.test(text);
  };
  t.ok(await eventually(refused));
  t.ok(
    await eventually(() =>
      hosts.some((host) => /"rejected":\{[^}]*"ETHUSD":"replay: another token/.test(host.output())),
    ),
    'a host says so',
  );
  t.equal((await eventually(() => latest(service, 'ETHUSD'))).signed_prices.length, 1);
  t.equal(await latest(service, 'BTCUSD'), undefined, 'they are not two publishers');
});
