import { test } from 'tap';
import { latestIn } from '../../scripts/load/store_records.js';
import { verifyAggregate } from '../../src/client/index.js';
import { FORM } from '../../src/prices/message.js';
import type { PublishOutcome } from '../../src/prices/publisher_session.js';
import { UNKNOWN_ASSET } from '../../src/wire/publish_message.js';
import { START_NS, sampleAsset } from '../model/sample.js';
import {
  atOnce,
  messageOf,
  newSession,
  receive,
  SERVICE_ORACLE_ID,
  startAggregator,
  testPublisher,
} from './harness.js';

const bitcoin = sampleAsset();
const ether = sampleAsset({ index: 1, id: 2, symbol: 'ETHUSD', minPublishers: 2 });
const starkBitcoin = sampleAsset({ index: 2, id: 3, symbol: 'BTC-STARK', signatureType: 'stark' });
const assets = [bitcoin, ether, starkBitcoin];
const [first, second, stark] = [testPublisher(0), testPublisher(1), testPublisher(2, 'stark')];
const publishers = [first, second, stark];
const REPLAY = 'replay: timestamp is not newer than the one that this update was accepted with';
/** The updates are enough for the pool, which has one thread, to verify and sign on that thread. */
const many = Array.from({ length: 40 }, (_, index) => sampleAsset({ index, id: index, symbol: `A${index}` }));
const pricesOfMany = (price: bigint) => Object.fromEntries(many.map(({ symbol }) => [symbol, price]));

test('a price goes the whole way: accepted, streamed, signed, and it verifies offline', async (t) => {
  const harness = await startAggregator(t, { assets, publishers });
  const { aggregator, prices, table, counters } = harness;
  const price = 72147681412670819000000n;
  const evm = atOnce(receive(aggregator, newSession(), messageOf(first!, { BTCUSD: price }, START_NS)));
  t.same([evm.traceId, evm.accepted, [...evm.rejected]], ['t1', ['BTCUSD'], []]);
  atOnce(receive(aggregator, newSession('stark'), messageOf(stark!, { 'BTC-STARK': price }, START_NS)));
  t.equal(table.price(bitcoin.index), price);
  t.equal(prices.latest(bitcoin), undefined, 'signed at the end of the turn');
  harness.endTurn();
  for (const asset of [bitcoin, starkBitcoin]) {
    const { line, aggregate } = prices.latest(asset)!;
    t.equal(aggregate.trigger, 'delta');
    for (const report of verifyAggregate(line, {
      signers: 'unchecked',
      oracleId: SERVICE_ORACLE_ID,
    }))
      t.match(report, { verdict: 'recovered' }, JSON.stringify(report));
    t.same(latestIn(harness.store, asset)?.signedAtNs, aggregate.signedAtNs);
  }
  t.match(counters, { updatesAccepted: 2, aggregatesSigned: 2 });
});

test('each update is judged by itself, and every refusal is counted with its reason', async (t) => {
  const harness = await startAggregator(t, { assets, publishers });
  const { aggregator, counters } = harness;
  const good = JSON.parse(messageOf(first!, { BTCUSD: 5n, ETHUSD: 6n }, START_NS));
  good.data.ETHUSD.signed_price.price = '7';
  good.data.X = 5;
  good.data.SOLUSD = { ...good.data.BTCUSD, asset_id: 'SOLUSD' };
  const text = JSON.stringify(good).replaceAll(/"timestamp":\d+/g, `"timestamp":${START_NS}`);
  const outcome = atOnce(receive(aggregator, newSession(), text));
  t.same(outcome.accepted, ['BTCUSD']);
  t.same(Object.fromEntries(outcome.rejected), {
    X: `the update is not an object${FORM}`,
    ETHUSD: 'msg_hash does not match the asset, time and price',
    SOLUSD: UNKNOWN_ASSET,
  });
  t.same(Object.fromEntries(counters.updatesRejected), {
    [`the update is not an object${FORM}`]: 1,
    [UNKNOWN_ASSET]: 1,
    'msg_hash does not match the asset, time and price': 1,
  });
  t.equal(counters.updatesAccepted, 1);
});

test('the clock signs every period, a delta at once, and the trigger says which', async (t) => {
  const harness = await startAggregator(t, { assets: [bitcoin], publishers });
  const { aggregator, prices, clock } = harness;
  const session = newSession();
  const put = (price: bigint) => {
    atOnce(receive(aggregator, session, messageOf(first!, { BTCUSD: price }, clock.advance(1n))));
    harness.endTurn();
    const { trigger, price: signed } = prices.latest(bitcoin)!.aggregate;
    return `${trigger} ${signed}`;
  };
  t.equal(put(100_000n), 'delta 100000');
  t.equal(put(100_099n), 'delta 100000', 'less than 0.1 %');
  t.equal(harness.table.price(bitcoin.index), 100_099n, 'but streams have it');
  harness.advanceMs(490);
  t.equal(prices.latest(bitcoin)!.aggregate.trigger, 'delta');
  harness.advanceMs(10);
  t.match(prices.latest(bitcoin)?.aggregate, { trigger: 'clock', price: 100_099n });
  t.equal(put(100_199n), 'clock 100099', 'a thousandth of the last signed one is 100.099');
  t.equal(put(100_200n), 'delta 100200');
  const { aggregatesSigned } = harness.counters;
  harness.advanceMs(2000);
  t.equal(
    harness.counters.aggregatesSigned,
    aggregatesSigned + 4,
    'signed anew every period, changed or not',
  );
  const latest = prices.latest(bitcoin)!.aggregate;
  t.ok(latest.timestampNs < latest.signedAtNs);
});

test('too few publishers: no price, until there are enough, and none again when their inputs are too old', async (t) => {
  const harness = await startAggregator(t, { assets, publishers });
  const { aggregator, prices, table, clock, counters } = harness;
  const put = (by: typeof first, price: bigint) => {
    atOnce(receive(aggregator, newSession(), messageOf(by!, { ETHUSD: price }, clock.timeNs)));
    harness.endTurn();
  };
  put(first, 10n);
  t.equal(table.live[ether.index], 0);
  t.equal(prices.latest(ether), undefined);
  harness.advanceMs(30_000);
  put(second, 20n);
  t.equal(prices.latest(ether)!.aggregate.price, 15n);
  t.equal(prices.latest(ether)!.aggregate.inputs.length, 2);
  harness.advanceMs(30_000);
  t.equal(table.live[ether.index], 1, 'at max_age it still counts');
  harness.advanceMs(10);
  t.equal(table.live[ether.index], 0);
  t.equal(prices.latest(ether), undefined);
  t.equal(latestIn(harness.store, ether), undefined);
  t.equal(counters.assetsEnded, 1);
  harness.advanceMs(5_000);
  t.equal(prices.latest(ether), undefined, 'the clock signs nothing');
  put(first, 12n);
  t.match(prices.latest(ether)?.aggregate, { trigger: 'delta', price: 16n });
});

test('the messages of one socket take effect in their order, also when a thread verifies them', async (t) => {
  const harness = await startAggregator(t, { assets: many, publishers, threads: 1 });
  const { aggregator } = harness;
  const session = newSession();
  const settled: string[] = [];
  const publish = (name: string, prices: Record<string, bigint>, afterNs: bigint, to = session) => {
    const outcome = receive(aggregator, to, messageOf(first!, prices, START_NS + afterNs));
    if (name === 'many') t.ok(outcome instanceof Promise);
    return Promise.resolve(outcome).then((result) => {
      settled.push(name);
      return result as PublishOutcome & { ok: true };
    });
  };
  const outcomes = await Promise.all([
    publish('many', pricesOfMany(1n), 1n),
    publish('one', { A0: 2n }, 2n),
    publish('many', pricesOfMany(3n), 3n),
    publish('old', { A0: 2n }, 2n),
  ]);
  t.same(settled, ['many', 'one', 'many', 'old']);
  t.same(
    outcomes.map(({ accepted }) => accepted.length),
    [40, 1, 40, 0],
  );
  t.equal(outcomes[3]!.rejected.get('A0'), REPLAY);
  for (const { index } of many) t.equal(harness.table.price(index), 3n);
  t.same(session.unsettled, []);
  t.equal(aggregator.updatesWaiting, 0);
});

test('what waits for the verdicts of a message before it is bounded, for each caller', async (t) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { aggregator } = await startAggregator(t, {
    assets,
    publishers,
    verifying: (pool) => ({ ...pool, verifyEvm: (jobs) => released.then(() => pool.verifyEvm(jobs)) }),
  });
  const session = newSession();
  const outcomes = [receive(aggregator, session, messageOf(first!, { BTCUSD: 1n }, START_NS))];
  const malformed = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`X${i}`, 0]));
  const text = JSON.stringify({ type: 'signed_prices', data: malformed });
  let taken = 0;
  for (; taken < 1_000; taken++) {
    const outcome = receive(aggregator, session, text);
    if (!(outcome instanceof Promise)) break;
    outcomes.push(outcome);
  }
  t.ok(taken > 50 && taken < 500, `${taken} messages`);
  const refused = { ok: false, error: 'overloaded: too many messages wait for their turn' };
  t.match(receive(aggregator, newSession(), text), refused, 'on another of its connections');
  t.match(receive(aggregator, newSession('evm', 'bob'), text), { ok: true }, 'another caller');
  release();
  for (const outcome of outcomes) t.match(await outcome, { ok: true });
  t.match(receive(aggregator, session, text), { ok: true }, 'there is room again');
});

test('a caller has as many updates waiting for verification as there is room left for, and so have its connections', async (t) => {
  const { aggregator } = await startAggregator(t, { assets: many, publishers, threads: 1 });
  // The thread verifies forty signatures. Later updates wait too, including updates whose wrong hash could be rejected quickly.
  const text = messageOf(first!, pricesOfMany(1n), START_NS).replaceAll('"price":"1"', '"price":"2"');
  let price = 0n;
  const outcomes: Promise<PublishOutcome>[] = [];
  /** Sends more updates than may wait. @returns the number of updates that wait */
  function flood(caller: string): number {
    const session = newSession('evm', caller);
    const before = aggregator.updatesWaiting;
    const slow = messageOf(first!, pricesOfMany(++price), START_NS + price);
    outcomes.push(Promise.resolve(receive(aggregator, session, slow)));
    for (let i = 0; i < 201 * 3; i++) outcomes.push(Promise.resolve(receive(aggregator, session, text)));
    return aggregator.updatesWaiting - before;
  }
  t.same([flood('alice'), flood('alice'), flood('bob')], [5_000, 2_500, 3_125]);
  const healthy = messageOf(first!, { A0: 1n }, START_NS);
  t.same(atOnce(receive(aggregator, newSession(), healthy)).accepted, ['A0'], 'others are not refused');
  const last = (await Promise.all(outcomes)).at(-1);
  t.equal(last?.ok && last.rejected.get('A39'), 'overloaded: too many updates wait for verification');
  t.equal(aggregator.updatesWaiting, 0, 'there is room again');
});
