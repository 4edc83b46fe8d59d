import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { TcpProxy } from '../../scripts/load/tcp_proxy.js';
import { eventually } from '../../scripts/load/wait.js';
import {
  createClient,
  createStreamClient,
  type GapEvent,
  type Tick,
  UnreachableError,
} from '../../src/client/node.js';
import { systemClock } from '../../src/clock/clock.js';
import { FakeClock } from '../clock/fake_clock.js';
import { Feed, units } from './feed.js';
import { startTestService, type TestService, TOKEN } from './harness.js';

const ASSETS = [
  { id: 1, symbol: 'BTCUSD', max_age: '24h', clock_period: '24h' },
  { id: 2, symbol: 'DYDXUSD', signature_type: 'stark', max_age: '24h', clock_period: '24h' },
];
const CUTS_MS = [100, 1_000, 10_000, 60_000];

/** A stream with backfill behind a proxy, and the means to sign prices while the proxy is closed. */
class ProxiedStream {
  readonly gaps: GapEvent[] = [];
  readonly ticks: Tick[] = [];
  readonly errors: Error[] = [];
  readonly clock = new FakeClock(systemClock());
  proxy!: TcpProxy;
  #service!: TestService;
  #signed!: (symbol: string, price: number) => Promise<void>;

  private constructor(
    readonly t: Test,
    readonly dir: string,
  ) {}

  static async open(t: Test): Promise<ProxiedStream> {
    const dir = mkdtempSync(join(tmpdir(), 'tickseal-backfill-'));
    const stream = new ProxiedStream(t, dir);
    await stream.serve(0);
    const proxy = await TcpProxy.start(Number(new URL(stream.url).port));
    t.teardown(async () => {
      await proxy.stop();
      await stream.#service.stop();
      rmSync(dir, { recursive: true });
    });
    await stream.#connect(proxy);
    return stream;
  }

  get url(): string {
    return this.#service.url;
  }

  /** Starts the service, again on the same folder. */
  async serve(port: number): Promise<void> {
    this.#service = await startTestService(
      this.t,
      {
        listen: { port },
        assets: ASSETS,
        storage: { dir: this.dir, past: { proofs: '7d', signatures: '90d' } },
      },
      { clock: this.clock },
    );
    const nowNs = () => this.clock.advance(1n);
    const evm = await Feed.open(this.#service, { nowNs });
    const stark = await Feed.open(this.#service, { type: 'stark', nowNs });
    const direct = createClient({ urls: this.url, token: TOKEN, signers: 'unchecked', oracleId: 'servc' });
    this.t.teardown(() => direct.close());
    this.#signed = async (symbol, price) => {
      await (symbol === 'BTCUSD' ? evm : stark).accept({ symbol, price: units(price) });
      await eventually(async () => (await direct.latest([symbol]))[symbol]?.decimal === String(price));
    };
  }

  /** Publishes a price, and waits until the service has signed it. */
  signed(symbol: string, price: number): Promise<void> {
    return this.#signed(symbol, price);
  }

  stopService(): Promise<void> {
    return this.#service.stop();
  }

  async #connect(proxy: TcpProxy): Promise<void> {
    this.proxy = proxy;
    const one = createClient({ urls: this.url, token: TOKEN, signers: 'unchecked' });
    const { signers } = await one.taxonomy();
    const client = createClient({
      urls: `http://127.0.0.1:${proxy.port}`,
      token: TOKEN,
      signers: signers.map(({ address }) => address),
      oracleId: 'servc',
    });
    client.on('error', (error) => this.errors.push(error));
    client.on('gap', (gap) => this.gaps.push(gap));
    const stream = client.stream(['BTCUSD', 'DYDXUSD'], { backfill: true });
    const done = (async () => {
      for await (const tick of stream) this.ticks.push(tick);
    })();
    this.t.teardown(async () => {
      await client.close();
      await done;
    });
    await this.signed('BTCUSD', 100);
    await this.signed('DYDXUSD', 2);
    await eventually(() => new Set(this.ticks.map(({ symbol }) => symbol)).size === 2);
  }
}

function textOf({ symbol, decimal, backfilled }: Tick): string {
  return `${symbol} ${decimal}${backfilled ? ' backfilled' : ''}`;
}

test('a stream that was cut reads what it missed, marked, in order and none twice', async (t) => {
  const stream = await ProxiedStream.open(t);
  const { proxy, ticks, gaps, clock } = stream;
  for (const [i, cutMs] of CUTS_MS.entries()) {
    const first = 110 + 100 * i;
    const seen = ticks.length;
    proxy.state = 'closed';
    await eventually(() => proxy.connections === 0);
    for (const price of [first, first + 10, first + 20]) {
      clock.advanceMs(Math.ceil(cutMs / 3));
      await stream.signed('BTCUSD', price);
    }
    await stream.signed('DYDXUSD', first);
    proxy.state = 'open';
    await eventually(() => gaps.length === i + 1);
    await stream.signed('BTCUSD', first + 30);
    await eventually(() => ticks.at(-1)?.decimal === String(first + 30));
    const missed = [first, first + 10, first + 20].map((price) => `BTCUSD ${price} backfilled`);
    t.same(
      ticks.slice(seen).map(textOf),
      [...missed, `DYDXUSD ${first} backfilled`, `BTCUSD ${first + 30}`],
      `${cutMs} ms`,
    );
    const { fromNs, toNs } = gaps.at(-1)!;
    t.ok(toNs - fromNs >= BigInt(cutMs) * 1_000_000n);
    for (const { verdict, signer, timestampNs } of ticks.slice(seen, -1)) {
      t.match({ verdict, signer }, { verdict: 'verified', signer: /^0x/ });
      t.ok(timestampNs > fromNs && timestampNs < toNs);
    }
  }
  for (const { symbol } of ASSETS) {
    const times = ticks.filter((tick) => tick.symbol === symbol).map(({ timestampNs }) => timestampNs);
    t.ok(
      times.every((time, i) => i === 0 || time > times[i - 1]!),
      `${symbol}: in order, none twice`,
    );
  }
  t.equal(gaps.length, CUTS_MS.length);
  // The client may read the symbols again while the proxy is closed.
  t.same(
    stream.errors.filter((error) => !(error instanceof UnreachableError)),
    [],
  );
  const streaming = createStreamClient({ urls: stream.url, token: TOKEN, signers: 'unchecked' });
  t.throws(() => streaming.stream(['BTCUSD'], { backfill: true }), TypeError);
});
