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
} from '../../src/client/node.js';
import { Feed, units } from './feed.js';
import { startTestService, TOKEN, withTokens } from './harness.js';

// Tests of the client's streams against a running service.

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
