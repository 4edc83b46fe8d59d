import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { verifyAggregate } from '../../src/client/index.js';
import { FakeClock } from '../clock/fake_clock.js';
import { get, publisherSigner, startTestService, type TestService, TestSocket } from './harness.js';
import { type Aggregate, latestText, latestWhen, openPublisher, publish, UNIT } from './publishing.js';

const MS_NS = 1_000_000n;
const PERIOD_MS = 500;

/** Starts a service with six assets. Each asset has three publishers with the weights 1, 2.5 and 0.000001. */
function startService(clock: FakeClock): Promise<TestService> {
  const asset = { clock_period: `${PERIOD_MS}ms`, max_age: '3600s' };
  return startTestService(
    {
      assets: [
        { ...asset, id: 1, symbol: 'MEDIAN' },
        { ...asset, id: 2, symbol: 'AVERAGE', aggregation: 'average' },
        { ...asset, id: 3, symbol: 'WEIGHTED', aggregation: 'weighted average' },
        { ...asset, id: 4, symbol: 'THREE', min_publishers: 3 },
        {
          ...asset,
          id: 5,
          symbol: 'NEAR',
          aggregation: 'average',
          max_deviation_percent: 5,
          min_publishers: 2,
        },
        { ...asset, id: 6, symbol: 'STARK', aggregation: 'average', signature_type: 'stark' },
      ],
      publishers: (['evm', 'stark'] as const).flatMap((type) =>
        [1, 2.5, 0.000001].map((weight, i) => ({
          key: publisherSigner(i + 1, type).publicKey,
          signature_type: type,
          oracle_id: 'tests',
          weight,
        })),
      ),
      ingest: { max_past: '3600s' },
    },
    { clock },
  );
}

test('aggregation', async (t) => {
  const clock = new FakeClock();
  const service = await startService(clock);
  t.teardown(() => service.stop());
  const sockets = { evm: await openPublisher(service), stark: await openPublisher(service, 'stark') };
  const typeOf = (symbol: string) => (symbol === 'STARK' ? 'stark' : 'evm');
  const send = async (n: number, symbol: string, price: bigint) => {
    clock.advanceMs(1);
    const type = typeOf(symbol);
    const update = publisherSigner(n, type).sign({ symbol, price, timestampNs: clock.nowNs() });
    const { rejected } = await publish(sockets[type], [update]);
    t.same(rejected, {});
    return update;
  };
  /** Signs the aggregates that wait for the end of their period. */
  const nextPeriod = () => clock.advanceMs(PERIOD_MS);
  const pricesOf = ({ signed_prices }: Aggregate) => signed_prices.map(({ price }) => BigInt(price));
  const signedAt = (aggregate: Aggregate) =>
    aggregate.service_signed_price.timestamped_signature.timestamp as bigint;

  await t.test('median, average and weighted average truncate toward zero', async (t) => {
    const rounds: [prices: readonly bigint[], expected: Record<string, bigint>][] = [
      [[10n], { MEDIAN: 10n, AVERAGE: 10n, WEIGHTED: 10n, STARK: 10n }],
      // The weighted average is (10 + 2.5 * 25) / 3.5 = 20.7…
      [[10n, 25n], { MEDIAN: 17n, AVERAGE: 17n, WEIGHTED: 20n, STARK: 17n }],
      [[10n, 25n, 12n], { MEDIAN: 12n, AVERAGE: 15n, WEIGHTED: 20n, STARK: 15n }],
    ];
    for (const [prices, expected] of rounds)
      for (const [symbol, price] of Object.entries(expected)) {
        await send(prices.length, symbol, prices.at(-1)!);
        nextPeriod();
        const aggregate = await latestWhen(
          service,
          symbol,
          (found) => pricesOf(found).length === prices.length,
        );
        t.equal(aggregate.price, `${price}`, `${symbol} of ${prices}`);
        t.same(pricesOf(aggregate).sort(), [...prices].sort());
        await verified(t, service, aggregate);
      }
    for (const [symbol, expected] of [
      ['MEDIAN', -1n],
      ['AVERAGE', -1n],
    ] as const) {
      await send(3, symbol, 0n);
      await send(2, symbol, -1n);
      await send(1, symbol, -4n);
      nextPeriod();
      const aggregate = await latestWhen(service, symbol, (found) => pricesOf(found).includes(-4n));
      t.equal(aggregate.price, `${expected}`, `${symbol} of -4, -1, 0`);
    }
  });

  await t.test('signed_prices are sorted by key as a number and hold the latest of each', async (t) => {
    const updates = [await send(3, 'MEDIAN', 5n), await send(1, 'MEDIAN', 6n), await send(2, 'MEDIAN', 7n)];
    nextPeriod();
    const { signed_prices, timestamp } = await latestWhen(service, 'MEDIAN', (found) =>
      pricesOf(found).includes(7n),
    );
    const sorted = updates
      .map(({ signed_price }) => signed_price)
      .sort((a, b) => (BigInt(a.publisher_key) < BigInt(b.publisher_key) ? -1 : 1));
    t.same(signed_prices, sorted);
    const newest = updates.map(({ signed_price }) => signed_price.timestamped_signature.timestamp);
    t.equal(timestamp, newest.at(-1), 'the newest time among them');
  });

  await t.test('below min_publishers there is no price', async (t) => {
    await send(1, 'THREE', UNIT);
    await send(2, 'THREE', UNIT);
    nextPeriod();
    await latestWhen(service, 'MEDIAN', (found) => signedAt(found) === clock.nowNs());
    t.equal(await latestText(service, 'THREE'), '{"data":{}}');
    await send(3, 'THREE', UNIT);
    t.equal((await latestWhen(service, 'THREE')).signed_prices.length, 3);
  });

  await t.test('what deviates too far from the median is left out', async (t) => {
    await send(1, 'NEAR', 1_000n);
    await send(2, 'NEAR', 1_000n);
    await send(3, 'NEAR', 1_050n);
    nextPeriod();
    const all = await latestWhen(service, 'NEAR', (found) => pricesOf(found).length === 3);
    t.equal(all.price, '1016', 'at the limit it counts');
    await send(3, 'NEAR', 1_051n);
    nextPeriod();
    const two = await latestWhen(service, 'NEAR', (found) => pricesOf(found).length === 2);
    t.equal(two.price, '1000');
    await verified(t, service, two);
    await send(1, 'NEAR', 2_000n);
    await send(2, 'NEAR', 500n);
    await eventually(async () => ((await latestText(service, 'NEAR')) === '{"data":{}}' ? true : undefined));
    await send(2, 'NEAR', 1_051n);
    t.equal((await latestWhen(service, 'NEAR')).price, '1051', 'and is back when enough agree');
  });

  await t.test('clock and delta triggers', async (t) => {
    for (const n of [1, 2, 3]) await send(n, 'WEIGHTED', 100_000n * UNIT);
    nextPeriod();
    const before = await latestWhen(service, 'WEIGHTED', (found) => signedAt(found) === clock.nowNs());
    t.equal(before.trigger, 'clock');
    const move = async (price: bigint) => {
      const { signed_price } = await send(2, 'WEIGHTED', price);
      return signed_price.timestamped_signature.timestamp;
    };
    const stream = await TestSocket.open(`${service.socketUrl}/ws`);
    stream.send({ type: 'subscribe', assets: [3] });
    await stream.nextJson();

    // The price moves by 0.0999 %, because the weights of its inputs are 1 and 2.5 of 3.5.
    await move(100_139n * UNIT);
    clock.advanceMs(1);
    t.match(await stream.nextJson(), { a: [{ id: 3, v: /^100099/ }] }, 'streams see it at once');
    t.equal(signedAt(await latestWhen(service, 'WEIGHTED')), signedAt(before), 'it is not signed yet');
    nextPeriod();
    const small = await latestWhen(service, 'WEIGHTED', (found) => signedAt(found) === clock.nowNs());
    t.match(small, { trigger: 'clock', price: /^100099/ });

    const at = await move(100_280n * UNIT);
    const moved = await latestWhen(service, 'WEIGHTED', ({ timestamp }) => timestamp === at);
    t.match(moved, { trigger: 'delta', price: /^100199/ }, 'as far again is signed at once');
    t.ok(signedAt(moved) > signedAt(small));
    await verified(t, service, moved);
    await stream.close();
  });

  await t.test('a clock that stands still signs nothing twice', async (t) => {
    const texts = new Set<string>();
    for (let i = 0; i < 20; i++) texts.add(await latestText(service, 'MEDIAN', 'WEIGHTED', 'STARK'));
    t.equal(texts.size, 1);
    nextPeriod();
    const atNs = clock.nowNs();
    const next = await latestWhen(service, 'MEDIAN', (found) => signedAt(found) === atNs);
    t.equal(next.trigger, 'clock');
    clock.advanceMs(PERIOD_MS - Number((atNs / MS_NS) % BigInt(PERIOD_MS)));
    await latestWhen(service, 'MEDIAN', (found) => signedAt(found) === clock.nowNs());
    t.equal((clock.nowNs() / MS_NS) % BigInt(PERIOD_MS), 0n, 'periods are multiples of the clock');
  });
});

/** Verifies an aggregate without the service's code. The weights and the definition are those that the service publishes. */
async function verified(t: Test, service: TestService, aggregate: Aggregate): Promise<void> {
  const { data } = (await (await get(`${service.url}/v1/algorithms`)).json()) as {
    data: { type: string; definition: string }[];
  };
  const { calculation_alg, public_key } = aggregate.service_signed_price;
  const weights = Object.fromEntries(
    ['1', '2.5', '0.000001'].map((weight, i) => [publisherSigner(i + 1).publicKey, weight]),
  );
  const [report] = verifyAggregate(aggregate, {
    signers: [aggregate.signature_type === 'evm' ? service.evmAddress : public_key],
    oracleId: 'servc',
    algorithmText: data.find(({ type }) => type === calculation_alg.type)!.definition,
    weights,
  });
  t.equal(
    report!.verdict,
    'verified',
    JSON.stringify(report!.checks.filter(({ status }) => status !== 'ok')),
  );
  t.notOk(report!.checks.some(({ status }) => status === 'skipped'));
}

test('a frozen publisher does not count, is named, and comes back with its first move', async (t) => {
  const clock = new FakeClock();
  const numbers = [1, 2, 3];
  const service = await startTestService(
    {
      aggregation: { frozen_after: '0s', classes: { fx: { frozen_after: '10s' } } },
      assets: [{ id: 1, symbol: 'EURUSD', class: 'fx', clock_period: `${PERIOD_MS}ms` }],
      publishers: numbers.map((one) => ({ key: publisherSigner(one).publicKey })),
    },
    { clock },
  );
  t.teardown(() => service.stop());
  const socket = await openPublisher(service);
  const round = async (...prices: readonly bigint[]) => {
    for (const [i, price] of prices.entries()) {
      clock.advanceMs(1);
      const signer = publisherSigner(numbers[i]!);
      await publish(socket, [signer.sign({ symbol: 'EURUSD', price, timestampNs: clock.nowNs() })]);
    }
    clock.advanceMs(2 * PERIOD_MS);
  };
  const frozen = async () =>
    (await (await fetch(`${service.adminUrl}/metrics`)).text()).match(/^tickseal_publisher_frozen\{.*/gm);
  const pricesIn = async (price: bigint) =>
    (await latestWhen(service, 'EURUSD', (aggregate) => aggregate.price === String(price))).signed_prices
      .length;
  await round(100n * UNIT, 102n * UNIT, 90n * UNIT);
  t.equal(await pricesIn(100n * UNIT), 3);
  for (let i = 1n; i <= 10n; i++) await round((100n + i) * UNIT, (102n + i) * UNIT, 90n * UNIT);
  t.equal(await pricesIn(111n * UNIT), 2, 'the mean of the two others');
  const key = publisherSigner(3).publicKey.toLowerCase();
  t.same(await frozen(), [
    `tickseal_publisher_frozen{asset="EURUSD",signature_type="evm",publisher="${key}"} 1`,
  ]);
  await round(111n * UNIT, 115n * UNIT, 112n * UNIT);
  t.equal(await pricesIn(112n * UNIT), 3);
  t.same(await frozen(), null);
});
