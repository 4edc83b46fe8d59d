import { test } from 'tap';
import type { AggregateSigner } from '../../src/crypto/aggregate_signer.js';
import { START_NS, sampleAsset } from '../model/sample.js';
import { atOnce, messageOf, newSession, receive, startAggregator, testPublisher } from './harness.js';

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
  const harness = await startAggregator(t, { assets: [bitcoin], publishers, through });
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

test('a price that ends before its signature is begun is never signed', async (t) => {
  const { through, waiting, next } = gated();
  const harness = await startAggregator(t, { assets: [bitcoin], publishers, through });
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
  const harness = await startAggregator(t, { assets: [bitcoin], publishers, through });
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
  const harness = await startAggregator(t, { assets: [bitcoin], publishers, through });
  atOnce(receive(harness.aggregator, newSession(), messageOf(first, { BTCUSD: 100n }, START_NS)));
  harness.endTurn();
  await next('fail');
  t.equal(harness.counters.signingFailures, 1);
  t.same(harness.failures, [[1, 'no signer']]);
  harness.advanceMs(500);
  await next();
  t.match(harness.prices.latest(bitcoin)?.aggregate, { trigger: 'clock', price: 100n });
});
