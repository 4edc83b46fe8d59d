import { isDeepStrictEqual } from 'node:util';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import {
  type Client,
  type ClientOptions,
  createClient,
  RefusedError,
  type StateEvent,
  type Tick,
  type TicksealError,
  UnknownAssetError,
} from '../../src/client/node.js';
import { Feed, units } from './feed.js';
import { startTestService, TOKEN, withTokens } from './harness.js';
import { openSilentRelay } from './silent_relay.js';

// Tests of the client's streams against a running service.

const MANY = { limits: { control_messages_per_second: 1000 } };

/** The address that signs the streams of all test services. */
const SIGNER = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A';

interface Watched {
  readonly client: Client;
  readonly states: StateEvent[];
  readonly errors: TicksealError[];
}

function clientOf(service: { readonly url: string }, options: Partial<ClientOptions> = {}): Watched {
  const client = createClient({ urls: service.url, token: TOKEN, signers: [SIGNER], ...options });
  const states: StateEvent[] = [];
  const errors: TicksealError[] = [];
  client.on('state', (state) => states.push(state));
  client.on('error', (error) => errors.push(error));
  return { client, states, errors };
}

/** Reads ticks until a tick has this symbol and price. */
async function tickOf(stream: AsyncIterator<Tick>, symbol: string, price: bigint): Promise<Tick> {
  for (;;) {
    const { value, done } = await stream.next();
    if (done) throw new Error(`no tick of ${symbol} with ${price}`);
    if (value.symbol === symbol && value.price === price) return value;
  }
}

test('ticks are verified prices by symbol', async (t) => {
  const assets = [
    { id: 1, symbol: 'BTCUSD' },
    { id: 2, symbol: 'AAPL', calendar: 'us_equities' },
  ];
  const service = await startTestService({ assets });
  t.teardown(() => service.stop());
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: (units(61000) + units(1) / 2n) as never });
  await feed.accept({ symbol: 'AAPL', price: units(200) });
  const { client, states, errors } = clientOf(service);
  const seen = new Map<string, Tick>();
  let last = 0n;
  for await (const tick of client.stream(['BTCUSD', 'AAPL'], {
    channel: '100ms',
    attributes: ['ms', 'quality'],
  })) {
    if (tick.symbol === 'BTCUSD') {
      t.ok(tick.timestampNs > last, 'times grow');
      last = tick.timestampNs;
    }
    seen.set(tick.symbol, tick);
    if (seen.size === 2) break;
  }
  const btc = seen.get('BTCUSD')!;
  t.equal(btc.decimal, '61000.5');
  t.equal(btc.price, 61_000_500_000_000_000_000_000n);
  t.match(btc, { signer: SIGNER, verdict: 'verified', status: undefined, url: service.url });
  t.ok(btc.ageMs >= 0 && btc.ageMs < 300_000, `${btc.ageMs} ms old`);
  t.match(btc.attributes, { marketStatus: null, inputAgeMs: Number, publishers: 1, spreadPpm: 0 });
  t.match(seen.get('AAPL')!.status, /^(?:closed|regular hours|extended hours|after hours)$/);
  t.same(states, [{ url: service.url, state: 'open', reason: '' }]);
  t.same(errors, []);
  await client.close();
});

test('symbols keep their meaning while reloads add and remove assets', async (t) => {
  const service = await startTestService({ assets: assetsOf(['A', 'B']), ...MANY });
  t.teardown(() => service.stop());
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'A', price: units(1) }, { symbol: 'B', price: units(2) });
  for (const channel of ['20ms', 'real_time'] as const) {
    service.reconfigure({ assets: assetsOf(['A', 'B']), ...MANY });
    const { client, errors } = clientOf(service);
    const stream = client.stream(['A', 'B'], { channel });
    const ticks: Tick[] = [];
    const done = (async () => {
      for await (const tick of stream) ticks.push(tick);
    })();
    const saw = (symbol: string, price: bigint) =>
      eventually(() => ticks.some((tick) => tick.symbol === symbol && tick.price === price));
    await saw('A', units(1));
    await saw('B', units(2));
    service.reconfigure({ assets: assetsOf(['C', 'B', 'A']), ...MANY });
    await feed.accept({ symbol: 'A', price: units(10) }, { symbol: 'C', price: units(30) });
    await saw('A', units(10));
    stream.add(['C']);
    await saw('C', units(30));
    stream.remove(['A']);
    t.same(stream.symbols, ['B', 'C']);
    service.reconfigure({ assets: assetsOf(['X', 'C']), ...MANY });
    await feed.accept({ symbol: 'C', price: units(31) });
    await saw('C', units(31));
    const isUnknown = (symbol: string) =>
      errors.some((error) => error instanceof UnknownAssetError && error.symbols.includes(symbol));
    await eventually(() => isUnknown('B'));
    // The client asks for a new symbol before it reads the list again, at the latest after 10 s.
    t.same(
      errors.filter((error) => !isDeepStrictEqual(error, new UnknownAssetError(['C']))),
      [new UnknownAssetError(['B'])],
      channel,
    );
    const strays = ticks.filter(({ symbol, price }) => !PRICES[symbol]!.includes(price));
    t.same(strays, [], 'no price under another symbol');
    await client.close();
    await done;
    service.reconfigure({ assets: assetsOf(['A', 'B']), ...MANY });
    await feed.accept({ symbol: 'A', price: units(1) }, { symbol: 'B', price: units(2) });
  }
});

/** The prices that each asset of the reload may have. */
const PRICES: Readonly<Record<string, readonly bigint[]>> = {
  A: [units(1), units(10)],
  B: [units(2)],
  C: [units(30), units(31)],
};

let nextId = 1;

/** Returns assets with IDs that no asset had before. */
function assetsOf(symbols: readonly string[]) {
  return symbols.map((symbol) => ({ id: nextId++, symbol }));
}

test('a refused token is replaced by the one that getToken gives next', async (t) => {
  const service = await startTestService(withTokens('first'));
  t.teardown(() => service.stop());
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(1) });
  let current = 'outdated';
  let asked = 0;
  const getToken = async () => {
    asked += 1;
    if (asked === 2) current = 'first';
    return current;
  };
  const { client, states } = clientOf(service, { token: undefined, getToken });
  const stream = client.stream(['BTCUSD'], { channel: '20ms' });
  await tickOf(stream, 'BTCUSD', units(1));
  t.equal(asked, 2, 'the first token was refused with 401');
  service.reconfigure(withTokens('second'));
  await eventually(() => states.at(-1)?.state === 'down');
  t.match(states.at(-1), { reason: /4401/ });
  current = 'second';
  await feed.accept({ symbol: 'BTCUSD', price: units(2) });
  await tickOf(stream, 'BTCUSD', units(2));
  t.equal(asked, 3);
  service.reconfigure(withTokens());
  await t.rejects(
    tickOf(stream, 'BTCUSD', units(3)),
    RefusedError,
    'the same token again is refused for good',
  );
  t.equal(states.at(-1)?.state, 'ended');
  await client.close();

  const other = clientOf(service, { token: 'unknown' });
  await t.rejects(other.client.stream(['BTCUSD']).next(), {
    name: 'RefusedError',
    status: 401,
    message: `${service.url}: the service says "the access token is not known: ask the operator for one"`,
  });
  await t.rejects(other.client.taxonomy(), { name: 'RefusedError', status: 401 });
  await other.client.close();
});

test('of two services the first frame wins, and one goes on where the other ends', async (t) => {
  const services = await Promise.all([startTestService(), startTestService()]);
  t.teardown(() => Promise.all(services.map((service) => service.stop())));
  const feeds = await Promise.all(services.map((service) => Feed.open(service)));
  const publish = async (count: number, live = feeds) => {
    for (const feed of live) await feed.accept({ symbol: 'BTCUSD', price: units(count) });
  };
  const relays = await Promise.all(services.map((service) => openSilentRelay(service.port)));
  t.teardown(() => Promise.all(relays.map((relay) => relay.close())));
  const urls = relays.map(({ port }) => `http://127.0.0.1:${port}`);
  // Prices only rise, even across streams.
  for (const [base, channel] of [[0, '50ms'] as const, [100, 'real_time'] as const]) {
    await publish(base + 1);
    const { client, states } = clientOf(services[0]!, { urls, staleAfterMs: 500 });
    const stream = client.stream(['BTCUSD'], { channel });
    const ticks: Tick[] = [];
    const done = (async () => {
      for await (const tick of stream) ticks.push(tick);
    })();
    const sawLast = (price: bigint) => eventually(() => ticks.at(-1)?.price === price);
    await sawLast(units(base + 1));
    await eventually(() => states.filter(({ state }) => state === 'open').length === 2);
    for (let count = base + 2; count < base + 30; count += 1) {
      await publish(count);
      await sawLast(units(count));
    }
    const silent = relays[0]!.silence();
    t.ok(silent > 0);
    await eventually(() => states.some(({ state, url }) => state === 'stale' && url === urls[0]));
    for (let count = base + 30; count < base + 35; count += 1) {
      await publish(count);
      await sawLast(units(count));
    }
    await eventually(() => states.at(-1)?.state === 'open');
    await client.close();
    await done;
    t.same(
      ticks.filter((tick, i) => i > 0 && tick.timestampNs <= ticks[i - 1]!.timestampNs),
      [],
      'times grow',
    );
    // On a busy machine, a service may be some frames behind the other service, but never by two steps of the price.
    const backward = ticks.filter((tick, i) => i > 0 && tick.price < ticks[i - 1]!.price - units(1));
    t.same(backward, [], `${channel}: no price comes again after a later one that both services had`);
  }
});
