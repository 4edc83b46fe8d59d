import { type Test, test } from 'tap';
import { latestIn } from '../../scripts/load/store_records.js';
import { verifyAggregate } from '../../src/client/index.js';
import type { SignatureVerdict } from '../../src/crypto/verdict.js';
import { NS_PER_SECOND } from '../../src/model/time.js';
import { FORM } from '../../src/prices/message.js';
import type { PublishOutcome } from '../../src/prices/publisher_session.js';
import { UNKNOWN_ASSET } from '../../src/wire/publish_message.js';
import { START_NS, sampleAsset } from '../model/sample.js';
import {
  AggregatorHarness,
  atOnce,
  messageOf,
  newSession,
  receive,
  SERVICE_ORACLE_ID,
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
  const harness = await AggregatorHarness.start(t, { assets, publishers });
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
  const harness = await AggregatorHarness.start(t, { assets, publishers });
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

test('newer inputs of the same price renew its quality, and send no frame on real_time', async (t) => {
  const harness = await AggregatorHarness.start(t, { assets, publishers });
  const put = (by: typeof first, price: bigint, timeNs: bigint) => {
    atOnce(receive(harness.aggregator, newSession(), messageOf(by!, { ETHUSD: price }, timeNs)));
    harness.endTurn();
    return harness.table.quality(ether.index);
  };
  t.equal(put(first, 10n, START_NS), undefined, 'no price, no quality');
  t.same(put(second, 10n, START_NS - 5n), { newestNs: START_NS, publishers: 2, spreadPpm: 0 });
  const { sequence } = harness.table;
  t.same(put(second, 10n, START_NS + NS_PER_SECOND), {
    newestNs: START_NS + NS_PER_SECOND,
    publishers: 2,
    spreadPpm: 0,
  });
  t.equal(harness.table.sequence, sequence);
  t.match(put(second, 12n, START_NS + NS_PER_SECOND * 2n), { spreadPpm: 181_818 });
  t.equal(harness.table.sequence, sequence + 1);
});

test('the clock signs every period, a delta at once, and the trigger says which', async (t) => {
  const harness = await AggregatorHarness.start(t, { assets: [bitcoin], publishers });
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

test('it needs a tick at the end of a period or when an input expires, at a multiple of 10 ms', async (t) => {
  const daily = sampleAsset({ clockPeriodNs: 86_400_000_000_000n });
  const harness = await AggregatorHarness.start(t, { assets: [daily], publishers });
  const { aggregator, clock } = harness;
  t.ok(aggregator.nextDueNs(clock.nowNs())! - START_NS > 3_600_000_000_000n, 'the period');
  const dueNs = () => Number(aggregator.nextDueNs(clock.nowNs())! - START_NS) / 1e6;
  atOnce(receive(aggregator, newSession(), messageOf(first!, { BTCUSD: 1n }, START_NS)));
  t.equal(dueNs(), 60_010, 'the input');
  harness.endTurn();
  harness.advanceMs(60_000);
  t.equal(harness.counters.assetsEnded, 0);
  harness.advanceMs(10);
  t.equal(harness.counters.assetsEnded, 1);
  t.ok(dueNs() > 3_600_000, 'the period again');
});

test('too few publishers: no price, until there are enough, and none again when their inputs are too old', async (t) => {
  const harness = await AggregatorHarness.start(t, { assets, publishers });
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
  const harness = await AggregatorHarness.start(t, { assets: many, publishers, threads: 1 });
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

test('a message that could not be verified fails alone, and those behind it take effect', async (t) => {
  let fail = (_fault: Error) => {};
  const broken = new Promise<SignatureVerdict[]>((_, reject) => {
    fail = reject;
  });
  let isFirst = true;
  const harness = await AggregatorHarness.start(t, {
    assets,
    publishers,
    verifying: (pool) => ({
      ...pool,
      verifyEvm(jobs) {
        if (!isFirst) return pool.verifyEvm(jobs);
        isFirst = false;
        return broken;
      },
    }),
  });
  const session = newSession();
  const outcomes = [1n, 2n, 3n].map((price) =>
    Promise.resolve(
      receive(harness.aggregator, session, messageOf(first!, { BTCUSD: price }, START_NS + price)),
    ),
  );
  t.equal(harness.table.price(bitcoin.index), undefined, 'all wait for the first');
  fail(new Error('a bug'));
  await t.rejects(outcomes[0]!, { message: 'a bug' });
  for (const outcome of outcomes.slice(1)) t.match(await outcome, { ok: true, accepted: ['BTCUSD'] });
  t.equal(harness.table.price(bitcoin.index), 3n);
  t.same(session.unsettled, []);
  t.equal(harness.aggregator.updatesWaiting, 0);
});

test('one socket does not wait for another’s signatures', async (t) => {
  const harness = await AggregatorHarness.start(t, { assets: many, publishers, threads: 1 });
  const slow = receive(harness.aggregator, newSession(), messageOf(first!, pricesOfMany(1n), START_NS));
  t.ok(slow instanceof Promise);
  t.equal(harness.aggregator.updatesWaiting, 40);
  const quick = atOnce(receive(harness.aggregator, newSession(), messageOf(second!, { A0: 5n }, START_NS)));
  t.same(quick.accepted, ['A0']);
  await slow;
});

test('bad signatures count for the caller, whichever of its connections sends them', async (t) => {
  const { aggregator, clock } = await AggregatorHarness.start(t, { assets: many, publishers });
  const forged = (callers: string): Promise<PublishOutcome> => {
    const message = JSON.parse(messageOf(first!, pricesOfMany(1n), clock.timeNs));
    const { r } = JSON.parse(messageOf(first!, { BTCUSD: 9n }, clock.timeNs)).data.BTCUSD.signed_price
      .timestamped_signature.signature;
    for (const update of Object.values<{ signed_price: SignedText }>(message.data))
      update.signed_price.timestamped_signature.signature.r = r;
    const text = JSON.stringify(message).replaceAll(/"timestamp":\d+/g, `"timestamp":${clock.timeNs}`);
    return Promise.resolve(receive(aggregator, newSession('evm', callers), text));
  };
  const reasonsOf = async (caller: string) => {
    const outcome = await forged(caller);
    return outcome.ok ? [...new Set(outcome.rejected.values())] : [];
  };
  const BAD = 'signature is not by publisher_key over this update';
  const THROTTLED = 'too many bad signatures of this token or key: not verified';
  for (let message = 1; message <= 3; message++)
    t.same(await reasonsOf('mallory'), [BAD], `message ${message}`);
  t.same(await reasonsOf('mallory'), [THROTTLED], 'on a connection that sent none');
  t.same(await reasonsOf('bob'), [BAD], 'others have their own budget');
  clock.advance(NS_PER_SECOND);
  t.same(await reasonsOf('mallory'), [BAD], 'the next second');
});

test('messages of one connection are answered in order, whichever of them waited for their turn or their verdicts', async (t) => {
  let nowMs = 0;
  let release = () => {};
  const harness = await AggregatorHarness.start(t, {
    assets: many,
    publishers,
    nowMs: () => ++nowMs,
    verifying: (pool) => ({
      ...pool,
      verifyEvm(jobs) {
        if (jobs.length < many.length) return pool.verifyEvm(jobs);
        return new Promise<void>((resolve) => {
          release = resolve;
        }).then(() => pool.verifyEvm(jobs));
      },
    }),
  });
  const { aggregator } = harness;
  const session = newSession();
  const answered: string[] = [];
  const publish = (name: string, prices: Record<string, bigint>, afterNs: bigint) =>
    Promise.resolve(receive(aggregator, session, messageOf(first!, prices, START_NS + afterNs))).then(() =>
      answered.push(name),
    );
  /** Sends messages of another caller, whose work uses up the turn's time limit. */
  const beBusy = (price: bigint) => {
    for (const more of [0n, 1n])
      receive(
        aggregator,
        newSession('evm', 'bob'),
        messageOf(second!, { A0: price + more }, START_NS + price),
      );
  };
  beBusy(1n);
  const answers = [publish('many', pricesOfMany(1n), 1n)];
  harness.endTurn();
  beBusy(3n);
  answers.push(publish('one', { A0: 2n }, 2n));
  release();
  await new Promise((resolve) => setImmediate(resolve));
  harness.endTurn();
  await Promise.all(answers);
  t.same(answered, ['many', 'one']);
});

/** Starts an aggregator whose verdicts on EVM signatures come after a call of `release`. */
async function startWithHeldVerdicts(t: Test) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const harness = await AggregatorHarness.start(t, {
    assets,
    publishers,
    verifying: (pool) => ({ ...pool, verifyEvm: (jobs) => released.then(() => pool.verifyEvm(jobs)) }),
  });
  return { aggregator: harness.aggregator, release };
}

test('what waits for the verdicts of a message before it is bounded, for each caller', async (t) => {
  const { aggregator, release } = await startWithHeldVerdicts(t);
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

test('the texts of messages that wait for verdicts are bounded, for each caller', async (t) => {
  const { aggregator, release } = await startWithHeldVerdicts(t);
  const outcomes: Promise<PublishOutcome>[] = [];
  let outcome: PublishOutcome | Promise<PublishOutcome> | undefined;
  for (let price = 1n; price <= 100n; price++) {
    const text = messageOf(first!, { BTCUSD: price }, START_NS + price) + ' '.repeat(500_000);
    outcome = receive(aggregator, newSession(), text);
    if (!(outcome instanceof Promise)) break;
    outcomes.push(outcome);
  }
  t.ok(outcomes.length > 10 && outcomes.length < 50, `${outcomes.length} messages`);
  t.match(outcome, { ok: false, error: 'overloaded: too many messages wait for their turn' });
  release();
  for (const settled of outcomes) t.match(await settled, { ok: true });
});

test('a caller has as many updates waiting for verification as there is room left for, and so have its connections', async (t) => {
  const hundred = Array.from({ length: 100 }, (_, index) =>
    sampleAsset({ index, id: index, symbol: `A${index}` }),
  );
  const { aggregator } = await AggregatorHarness.start(t, { assets: hundred, publishers, threads: 1 });
  const { BTCUSD: update } = JSON.parse(messageOf(first!, { BTCUSD: 1n }, START_NS)).data;
  const data = Object.fromEntries(
    hundred.map(({ symbol }) => {
      const signed = { ...update.signed_price, external_asset_id: symbol };
      return [symbol, { ...update, asset_id: symbol, signed_price: signed }];
    }),
  );
  // The thread verifies forty signatures. Later updates wait too, including an update whose wrong hash could be rejected quickly.
  let price = 0n;
  const text = JSON.stringify({ type: 'signed_prices', data });
  const outcomes: Promise<PublishOutcome>[] = [];
  /** Sends more updates than may wait. @returns the number of updates that wait */
  function flood(caller: string): number {
    const session = newSession('evm', caller);
    const before = aggregator.updatesWaiting;
    const slow = messageOf(first!, pricesOfMany(++price), START_NS + price);
    outcomes.push(Promise.resolve(receive(aggregator, session, slow)));
    for (let i = 0; i < 201; i++) outcomes.push(Promise.resolve(receive(aggregator, session, text)));
    return aggregator.updatesWaiting - before;
  }
  t.same([flood('alice'), flood('alice'), flood('bob')], [5_000, 2_500, 3_125]);
  const healthy = messageOf(first!, { A0: 1n }, START_NS);
  t.same(atOnce(receive(aggregator, newSession(), healthy)).accepted, ['A0'], 'others are not refused');
  const last = (await Promise.all(outcomes)).at(-1);
  t.equal(last?.ok && last.rejected.get('A99'), 'overloaded: too many updates wait for verification');
  t.equal(aggregator.updatesWaiting, 0);
  t.equal(flood('alice'), 5_000, 'there is room again');
  await Promise.all(outcomes);
});

test('after a restart inputs that still count make prices again, and replays stay refused', async (t) => {
  const dir = t.testdir();
  const before = await AggregatorHarness.start(t, { assets, publishers, dir });
  const message = messageOf(first!, { BTCUSD: 100n }, START_NS);
  atOnce(receive(before.aggregator, newSession(), message));
  before.endTurn();
  const { signedAtNs } = before.prices.latest(bitcoin)!.aggregate;
  await before.stop();

  const after = await AggregatorHarness.start(t, { assets, publishers, dir });
  after.restore();
  t.equal(after.table.price(bitcoin.index), 100n);
  t.equal(after.prices.latest(bitcoin), undefined, 'a newer one may have been served before a crash');
  const again = atOnce(receive(after.aggregator, newSession(), message));
  t.equal(again.rejected.get('BTCUSD'), REPLAY);
  after.endTurn();
  after.advanceMs(500);
  t.ok(after.prices.latest(bitcoin)!.aggregate.signedAtNs > signedAtNs);
  await after.stop();
});

test('updates of a message that is sent again are accepted and change nothing, also when others came since', async (t) => {
  const harness = await AggregatorHarness.start(t, { assets, publishers });
  const session = newSession();
  const prices = [100n, 100n, 101n];
  const messages = prices.map((price, i) => messageOf(first!, { BTCUSD: price }, START_NS + BigInt(i)));
  for (const message of messages) atOnce(receive(harness.aggregator, session, message));
  for (const message of messages) {
    t.same(atOnce(receive(harness.aggregator, session, message, true)).accepted, ['BTCUSD']);
    t.equal(harness.table.price(bitcoin.index), 101n);
  }
  const stolen = atOnce(receive(harness.aggregator, newSession('evm', 'bob'), messages[0]!, true));
  t.same(stolen.accepted, [], 'only from its own sender');
});

/** The part of an update that a test changes. */
interface SignedText {
  readonly timestamped_signature: { readonly signature: { r: string } };
}
