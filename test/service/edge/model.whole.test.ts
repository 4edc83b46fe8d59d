import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import type { Asset } from '../../../src/model/asset.js';
import type { Price } from '../../../src/model/price.js';
import { get, TestSocket } from '../harness.js';
import { type EdgesHarness, startEdges, THREADS } from './harness.js';

/** The size of the ring. The ring holds a few messages, but a burst has many more. */
const RING_BYTES = 16_384;
const BURST = 200;
/** The number of connections. With this number, both threads almost certainly have some of the connections. */
const CONNECTIONS = 8;
const SYMBOLS = ['AUSD', 'BUSD', 'CUSD', 'GRÜN'];

const sectionsOf = (symbols: readonly string[]) => ({
  listen: { port: 0, threads: THREADS },
  assets: symbols.map((symbol) => ({ id: 1 + SYMBOLS.indexOf(symbol), symbol })),
});

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('price', 'sign'),
      asset: fc.nat(3),
      price: fc.nat(1_000_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end'), asset: fc.nat(3), price: fc.constant(0) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('burst'), asset: fc.nat(3), price: fc.nat(1_000_000) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reload'), asset: fc.nat(3), price: fc.constant(0) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('turn'), asset: fc.constant(0), price: fc.constant(0) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function carryOut(harness: EdgesHarness, step: Step): Promise<void> {
  const listed = harness.listed();
  const asset = listed[step.asset % listed.length]!;
  const price = BigInt(step.price) as Price;
  switch (step.do) {
    case 'price':
      return harness.price(asset, price);
    case 'sign':
      harness.price(asset, price);
      return harness.sign(asset);
    case 'burst':
      for (let i = 0; i < BURST; i++) {
        harness.price(asset, BigInt(step.price + i) as Price);
        harness.sign(asset);
      }
      return;
    case 'end':
      return harness.end(asset);
    case 'reload':
      // The new configuration lists all assets, or all except one.
      return harness.reload(
        sectionsOf(SYMBOLS.filter((_, i) => listed.length < SYMBOLS.length || i !== step.asset)),
      );
    case 'turn':
      await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

interface Served {
  /** Prices by streaming ID, as a new stream receives them first. */
  readonly prices: Record<string, string>;
  /** Aggregates by symbol, as in REST answers. */
  readonly aggregates: Record<string, string>;
}

/** Returns the data that a new connection receives; `undefined` when the connection's thread ends. */
async function served({ url, listed }: EdgesHarness): Promise<Served | undefined> {
  const symbols = listed().map(({ symbol }) => encodeURIComponent(symbol));
  try {
    const socket = await TestSocket.open(`ws://${url}/ws`);
    socket.send({ type: 'subscribe', assets: listed().map(({ id }) => id) });
    const frame = await Promise.race([socket.nextJson(), socket.closed.then(() => undefined)]);
    await socket.close();
    const path = `/v1/prices/latest?assets=${symbols.join()}`;
    const { data } = (await (await get(`http://${url}${path}`, { Connection: 'close' })).json()) as {
      data: Record<string, { price: string }>;
    };
    const aggregates = Object.fromEntries(Object.entries(data).map(([symbol, { price }]) => [symbol, price]));
    return frame && { prices: pricesOf(frame), aggregates };
  } catch {
    return undefined;
  }
}

/** Returns the data that the edges must serve. */
function due({ listed, live }: EdgesHarness): Served {
  const prices: Record<string, string> = {};
  const aggregates: Record<string, string> = {};
  for (const { id, symbol } of listed()) {
    const known = live.get(symbol);
    if (known !== undefined) prices[id] = String(known.price);
    if (known?.signed !== undefined) aggregates[symbol] = String(known.signed);
  }
  return { prices, aggregates };
}

test('edges serve what the source has, also after they have fallen behind, were replaced or reloaded', async (t) => {
  const harness = await startEdges(t, sectionsOf(SYMBOLS), { ringBytes: RING_BYTES });
  let markers = 10n ** 9n;

  /**
   * Compares the data of all edges. First waits for the price of a marker asset, which shows that the edges have received all
   * messages.
   */
  async function agree(): Promise<void> {
    if (harness.listed().length < SYMBOLS.length) harness.reload(sectionsOf(SYMBOLS));
    const [marker] = harness.listed() as [Asset];
    harness.price(marker, ++markers as Price);
    harness.sign(marker);
    await eventually(() => harness.edges.count === THREADS);
    const expected = due(harness);
    for (let i = 0; i < CONNECTIONS; i++) {
      const seen = await eventually(async () => {
        const now = await served(harness);
        const isNewest =
          now?.prices[marker.id] === String(markers) && now.aggregates[marker.symbol] === String(markers);
        return isNewest && now;
      });
      assert.deepEqual(seen, expected);
    }
  }

  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 12, size: 'max' }),
      fc.boolean(),
      async (steps, isCrash) => {
        for (const [i, one] of steps.entries()) {
          if (isCrash && i === Math.floor(steps.length / 2)) harness.inject('crash');
          await carryOut(harness, one);
        }
        await agree();
      },
    ),
    { numRuns: 12, endOnFailure: true },
  );
  for (const asset of harness.listed())
    await carryOut(harness, { do: 'burst', asset: asset.index, price: 5 });
  await agree();
  t.ok(harness.counters.threadOverruns > 0, `${harness.counters.threadOverruns} overruns`);
  t.ok(harness.counters.threadFailures > 0, `${harness.counters.threadFailures} failures`);
  t.same(
    harness.failures.filter((error) => error !== 'injected by the test'),
    [],
    'no message of the feed was missed',
  );
});

function pricesOf(frame: Record<string, unknown>): Record<string, string> {
  const assets = frame['a'] as { id: number; v: string }[];
  return Object.fromEntries(assets.map(({ id, v }) => [id, v]));
}
