import { test } from 'tap';
import { latestIn } from '../../scripts/load/store_records.js';
import type { AggregateSigner } from '../../src/crypto/aggregate_signer.js';
import { START_NS, sampleAsset } from '../model/sample.js';
import { AggregatorHarness, atOnce, messageOf, newSession, receive, testPublisher } from './harness.js';

const MS = 1_000_000n;
const bitcoin = sampleAsset();
const first = testPublisher(0);
const publishers = [first];
/** Holds each batch until it is released. */
function gated() {
  const waiting: { release: () => void; fail: () => void }[] = [];
  const through = (signer: AggregateSigner): AggregateSigner => ({
    ...signer,
    sign: async (type, aggregates) => {
      await new Promise<void>((resolve, reject) => {
        waiting.push({ release: resolve, fail: () => reject(new Error('no signer')) });
      });
      return signer.sign(type, aggregates);
    },
  });
  const next = async (outcome: 'release' | 'fail' = 'release') => {
    waiting.shift()![outcome]();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { through, waiting, next };
}

test('while a batch is being signed the next gathers, and times of signatures only grow', async (t) => {
  const { through, waiting, next } = gated();
  const harness = await AggregatorHarness.start(t, { assets: [bitcoin], publishers, through });
  const { aggregator, prices, clock } = harness;
  const session = newSession();
  const put = (price: bigint, timestampNs: bigint) => {
    atOnce(receive(aggregator, session, messageOf(first, { BTCUSD: price }, timestampNs)));
    harness.endTurn();
  };
  put(100n, START_NS);
  put(200n, START_NS + 1n);
  clock.advance(-MS);
  put(300n, START_NS + 2n);
  t.equal(waiting.length, 1);
  t.equal(prices.latest(bitcoin), undefined);
  await next();
  t.equal(waiting.length, 1, 'one batch for the two that gathered');
  const { price, signedAtNs } = prices.latest(bitcoin)!.aggregate;
  t.equal(price, 100n);
  await next();
  t.equal(waiting.length, 0);
  t.equal(prices.latest(bitcoin)!.aggregate.price, 300n);
  t.ok(prices.latest(bitcoin)!.aggregate.signedAtNs > signedAtNs, 'though the clock was stepped back');
});

test('a price that ends while its signature is made is not served', async (t) => {
  const { through, next } = gated();
  const harness = await AggregatorHarness.start(t, { assets: [bitcoin], publishers, through });
  atOnce(receive(harness.aggregator, newSession(), messageOf(first, { BTCUSD: 100n }, START_NS)));
  harness.endTurn();
  harness.advanceMs(60_010);
  t.equal(harness.counters.assetsEnded, 1);
  await next();
  await harness.store.durable();
  t.equal(harness.prices.latest(bitcoin), undefined);
  t.equal(latestIn(harness.store, bitcoin), undefined);
});

test('a price that ends before its signature is begun is never signed', async (t) => {
  const { through, waiting, next } = gated();
  const harness = await AggregatorHarness.start(t, { assets: [bitcoin], publishers, through });
  const session = newSession();
  for (const [price, timestampNs] of [
    [100n, START_NS],
    [200n, START_NS + 1n],
  ] as const) {
    atOnce(receive(harness.aggregator, session, messageOf(first, { BTCUSD: price }, timestampNs)));
    harness.endTurn();
  }
  harness.advanceMs(60_010);
  await next();
  t.equal(waiting.length, 0, 'the second price is not given to the signer');
  t.same(harness.failures, []);
});

test('a price that moved far enough stays a delta when a period ends before it is signed', async (t) => {
  const { through, next } = gated();
  const harness = await AggregatorHarness.start(t, { assets: [bitcoin], publishers, through });
  const session = newSession();
  atOnce(receive(harness.aggregator, session, messageOf(first, { BTCUSD: 100n }, START_NS)));
  harness.endTurn();
  atOnce(receive(harness.aggregator, session, messageOf(first, { BTCUSD: 200n }, START_NS + 1n)));
  harness.endTurn();
  harness.advanceMs(500);
  await next();
  await next();
  t.match(harness.prices.latest(bitcoin)?.aggregate, { trigger: 'delta', price: 200n });
});

test('a batch that cannot be signed is counted, and the next one is signed', async (t) => {
  const { through, next } = gated();
  const harness = await AggregatorHarness.start(t, { assets: [bitcoin], publishers, through });
  atOnce(receive(harness.aggregator, newSession(), messageOf(first, { BTCUSD: 100n }, START_NS)));
  harness.endTurn();
  await next('fail');
  t.equal(harness.counters.signingFailures, 1);
  t.same(harness.failures, [[1, 'no signer']]);
  harness.advanceMs(500);
  await next();
  t.match(harness.prices.latest(bitcoin)?.aggregate, { trigger: 'clock', price: 100n });
});

test('an aggregate that the log cannot take is counted, and the others of its batch go on', async (t) => {
  const { through, next } = gated();
  const [large, small] = ['LARGE', 'SMALL'].map((symbol, index) => sampleAsset({ index, id: index, symbol }));
  const harness = await AggregatorHarness.start(t, { assets: [large!, small!], publishers, through });
  const { sink } = harness;
  const signed = sink.signed.bind(sink);
  sink.signed = (message) => {
    if (message.asset.symbol === large!.symbol) throw new RangeError('an entry is too large');
    signed(message);
  };
  const prices = { [small!.symbol]: 7n, [large!.symbol]: 8n };
  atOnce(receive(harness.aggregator, newSession(), messageOf(first, prices, START_NS)));
  harness.endTurn();
  await next();
  t.same(harness.failures, [[1, 'an entry is too large']]);
  t.equal(harness.counters.signingFailures, 1);
  t.match(harness.prices.latest(small!)?.aggregate, { price: 7n });
  t.equal(harness.prices.latest(large!), undefined);
});
