import fc from 'fast-check';
import { test } from 'tap';
import type { Asset } from '../../src/model/asset.js';
import { NOTHING_SENT } from '../../src/stream/reader_session.js';
import { CountedBudget, readerBudgets } from '../model/counted_budget.js';
import { sampleAsset } from '../model/sample.js';
import { AggregateHarness, sampleAssets } from './aggregate_harness.js';

test('a subscriber is answered, gets what there is, and then whatever is signed', async (t) => {
  const harness = new AggregateHarness();
  const first = harness.sign('A0');
  const client = harness.connect();
  client.send({ type: 'subscribe', data: ['A0', 'A1', 'A0'], trace_id: 'x' });
  const [answer, frame, ...rest] = client.takeReceived();
  t.same(answer, { type: 'subscribe', trace_id: 'x', data: { subscriptions: ['A0', 'A1'] } });
  t.match(frame, { type: 'oracle_prices', trace_id: /^[0-9a-f]+-[0-9a-f]+$/, data: { A0: first } });
  t.same(rest, []);

  const second = harness.sign('A1');
  harness.sign('A2');
  harness.endTurn();
  t.same(client.takePrices(), [[['A1', second]]]);
  client.unsubscribe('A1', 'A3');
  t.same(client.takeReceived(), [{ type: 'unsubscribe', data: { subscriptions: ['A0'] } }]);
  harness.sign('A1');
  harness.endTurn();
  t.same(client.takeReceived(), []);
});

test('what is signed in one turn is one frame of a group, written and published once', async (t) => {
  const harness = new AggregateHarness();
  const clients = Array.from({ length: 10 }, () => harness.connect());
  for (const client of clients) client.subscribe('A0', 'A1', 'A2');
  for (const client of clients) client.takeReceived();
  const numbers = ['A0', 'A1'].map((symbol) => [symbol, harness.sign(symbol)] as const);
  const newest = ['A0', harness.sign('A0')] as const;
  t.equal(harness.published, 0, 'not before the turn ends');
  harness.endTurn();
  t.equal(harness.published, 1);
  t.equal(harness.streams.groupCount, 1);
  for (const client of clients) t.same(client.takePrices(), [[newest, numbers[1]]]);
  t.equal(harness.read, 2);
  t.equal(harness.counters.framesMade, 1);
});

test('unknown symbols and those that the token does not cover are alike, and the others are taken', async (t) => {
  const harness = new AggregateHarness([
    ...sampleAssets(2),
    sampleAsset({ index: 2, symbol: 'A2', signatureType: 'stark' }),
  ]);
  const client = harness.connect('evm', (symbol) => symbol !== 'A1');
  client.send({ type: 'subscribe', data: ['A0', 'A1', 'A2', 'NO'], trace_id: 'q' });
  const [answer, error] = client.takeReceived();
  t.same(answer, { type: 'subscribe', trace_id: 'q', data: { subscriptions: ['A0'] } });
  t.same(error, {
    type: 'error',
    trace_id: 'q',
    error: 'unknown symbols, or not covered by the token: A1, A2, NO',
  });
  const stark = harness.connect('stark');
  stark.subscribe('A2', 'A0');
  t.same(stark.takeReceived()[0], { type: 'subscribe', data: { subscriptions: ['A2'] } });
  const number = harness.sign('A2', 'stark');
  harness.endTurn();
  t.same(stark.takePrices(), [[['A2', number]]]);
  t.same(client.takePrices(), []);
});

test('past its subscription changes a token gets an error', async (t) => {
  const subscriptionChanges = new CountedBudget(2);
  const client = new AggregateHarness(sampleAssets(4)).connect(
    'evm',
    () => true,
    readerBudgets({ subscriptionChanges }),
  );
  client.subscribe('A0', 'A1');
  client.send({ type: 'unsubscribe', data: ['A0'], trace_id: 'late' });
  t.match(client.takeReceived()[1], {
    type: 'error',
    trace_id: 'late',
    error: /^more than subscription_changes_per_second \(20\) assets/,
  });
  t.equal(subscriptionChanges.refusals, 1);
  t.equal(client.session.assets.length, 2);
});

test('the limits: at them it works, one past them is an error', async (t) => {
  const harness = new AggregateHarness(sampleAssets(4), {
    subscriptionsPerConnection: 2,
    controlMessagesPerSecond: 3,
  });
  const client = harness.connect();
  client.subscribe('A0', 'A1');
  client.subscribe('A2');
  t.match(client.takeReceived()[1], {
    type: 'error',
    error: /^3 subscriptions, subscriptions_per_connection is 2$/,
  });
  t.same(
    client.session.assets.map(({ symbol }) => symbol),
    ['A0', 'A1'],
  );
  client.unsubscribe('A0');
  client.takeReceived();
  client.send({ type: 'subscribe', data: ['A2'], trace_id: 'late' });
  t.match(client.takeReceived(), [
    { type: 'error', trace_id: 'late', error: /control_messages_per_second \(3\)/ },
  ]);
  harness.clock.advance(1_000_000_000n);
  client.subscribe('A2');
  t.same(client.takeReceived(), [{ type: 'subscribe', data: { subscriptions: ['A1', 'A2'] } }]);
  harness.streams.refuseOversize(client.session, 70_000);
  t.match(client.takeReceived(), [{ type: 'error', error: /70000 bytes, client_message_bytes is 65536/ }]);
});

test('what is no request is named, and the tenth closes the connection', async (t) => {
  const harness = new AggregateHarness();
  const client = harness.connect();
  const bad: [unknown, RegExp][] = [
    ['{', /not JSON/],
    [[], /not a JSON object/],
    [{ data: ['A0'] }, /^type/],
    [{ type: 'publish', data: ['A0'] }, /^type is not "subscribe" or "unsubscribe" or "ping"$/],
    [{ type: 'subscribe' }, /^data/],
    [{ type: 'subscribe', data: 'A0' }, /^data/],
    [{ type: 'subscribe', data: [1] }, /^data/],
    [{ type: 'subscribe', data: ['A0'], trace_id: 7 }, /^trace_id/],
    [{ type: 'subscribe', data: ['A0'], trace_id: 'x'.repeat(257) }, /^trace_id/],
    ['['.repeat(100), /more than 64/],
  ];
  for (const [message, error] of bad) {
    t.equal(client.closed, undefined);
    client.send(message);
    const [answer, ...rest] = client.takeReceived();
    t.match(answer, { type: 'error', error });
    t.notOk('data' in answer!, 'clients know prices by it');
    t.same(rest, []);
  }
  t.equal(client.closed, 1008);
});

test('a slow reader gets the newest of each asset when it reads again, or is closed', async (t) => {
  const harness = new AggregateHarness();
  const [slow, dead, good] = [harness.connect(), harness.connect(), harness.connect()];
  for (const client of [slow, dead, good]) client.subscribe('A0', 'A1', 'A2');
  harness.sign('A2');
  harness.endTurn();
  for (const client of [slow, dead, good]) client.takeReceived();
  slow.isStuck = true;
  dead.isStuck = true;
  const signed = [];
  for (let i = 0; i < 5; i++) {
    signed.push(harness.sign('A0'));
    if (i === 0) harness.sign('A1');
    harness.endTurn();
  }
  t.equal(good.takePrices().length, 5);
  slow.takeReceived();
  harness.end('A1');
  slow.drain();
  t.same(slow.takePrices(), [[['A0', signed.at(-1)]]], 'the newest, none that has ended, and nothing twice');
  t.equal(harness.counters.framesSkipped, 10);
  const next = harness.sign('A2');
  harness.endTurn();
  t.same(slow.takePrices(), [[['A2', next]]]);

  harness.streams.drained(dead.session, 100);
  harness.streams.tick(harness.clock.advance(9_900_000_000n));
  harness.streams.drained(dead.session, 50);
  harness.streams.tick(harness.clock.advance(9_900_000_000n));
  t.equal(dead.closed, undefined, 'it made progress');
  harness.streams.tick(harness.clock.advance(300_000_000n));
  t.equal(dead.closed, 1013);
  t.equal(harness.counters.slowConsumersClosed, 1);
});

test('symbols that no asset has take places of the limit only as long as there are some', async (t) => {
  const [A0, A1] = sampleAssets(2) as [Asset, Asset];
  const harness = new AggregateHarness([A0], { subscriptionsPerConnection: 2 });
  const client = harness.connect();
  client.subscribe('A1', 'B'.repeat(65), 'A2', 'A3');
  const [, error] = client.takeReceived();
  t.match(error, { error: /unknown.*: A1, B+, A2, A3; past subscriptions_per_connection \(2\), .*: A3$/ });
  client.subscribe('A0');
  t.match(client.takeReceived()[1], { error: /^past subscriptions_per_connection \(2\), .*: A2$/ });
  t.same(client.session.awaited, ['A1']);
  harness.assets = sampleAssets(4);
  harness.streams.reload();
  t.same(
    client.session.assets.map(({ symbol }) => symbol),
    [A0.symbol, A1.symbol],
  );
  client.subscribe('A2');
  t.match(client.takeReceived(), [{ error: /^3 subscriptions/ }]);
});

test('a ping is answered', async (t) => {
  const client = new AggregateHarness().connect();
  client.send('{"type":"ping","id":1.0}');
  t.same(client.takeReceived(), [{ type: 'pong', id: 1 }]);
  client.send({ type: 'ping', id: {} });
  t.match(client.takeReceived(), [{ type: 'error', error: /^id is not a number/ }]);
});

test('a reload takes away what is no longer listed or allowed', async (t) => {
  const harness = new AggregateHarness();
  const allowed = new Set(['A0', 'A1', 'A2']);
  const client = harness.connect('evm', (symbol) => allowed.has(symbol));
  client.subscribe('A0', 'A1', 'A2');
  client.takeReceived();
  allowed.delete('A1');
  harness.assets = [
    ...harness.assets.filter(({ symbol }) => symbol !== 'A2'),
    sampleAsset({ index: 2, symbol: 'A2', signatureType: 'stark' }),
  ];
  harness.streams.reload();
  harness.sign('A1');
  harness.sign('A2', 'stark');
  const number = harness.sign('A0');
  harness.endTurn();
  t.same(client.takePrices(), [[['A0', number]]]);
  client.close();
  t.equal(harness.streams.groupCount, 0);
});

test('whatever happens in whatever order, everybody who reads knows the newest of all it asked for', async (t) => {
  const all = sampleAssets(4);
  const symbols = all.map(({ symbol }) => symbol);
  const some = fc.subarray(symbols, { minLength: 1 });
  const who = fc.nat(3);
  const step = fc.oneof(
    fc.record({ do: fc.constant('subscribe' as const), who, some }),
    fc.record({ do: fc.constant('unsubscribe' as const), who, some }),
    fc.record({ do: fc.constant('sign' as const), who, some }),
    fc.record({ do: fc.constantFrom('stick', 'drain', 'endTurn', 'drop', 'reload'), who, some }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const harness = new AggregateHarness();
      const clients = Array.from({ length: 4 }, () => harness.connect());
      const asked = clients.map(() => new Set<string>());
      for (const one of steps) {
        const client = clients[one.who]!;
        if (one.do === 'subscribe') {
          client.subscribe(...one.some);
          for (const symbol of one.some) asked[one.who]!.add(symbol);
        } else if (one.do === 'unsubscribe') {
          client.unsubscribe(...one.some);
          for (const symbol of one.some) asked[one.who]!.delete(symbol);
        } else if (one.do === 'sign') {
          for (const { symbol } of harness.assets) if (one.some.includes(symbol)) harness.sign(symbol);
        } else if (one.do === 'stick') client.isStuck = true;
        else if (one.do === 'drain') client.drain();
        else if (one.do === 'reload') {
          harness.assets = all.filter(({ symbol }) => one.some.includes(symbol));
          harness.streams.reload();
        } else if (one.do === 'drop') {
          for (const symbol of symbols) client.known.delete(symbol);
          harness.streams.lagged(client.session, NOTHING_SENT);
        } else harness.endTurn();
      }
      harness.assets = all;
      harness.streams.reload();
      harness.endTurn();
      for (const client of clients) client.drain();
      for (const [i, client] of clients.entries())
        for (const symbol of asked[i]!)
          if (client.known.get(symbol) !== harness.latestOf(symbol)) return false;
      for (const client of clients) client.close();
      return harness.streams.groupCount === 0;
    }),
    { numRuns: 2_000 },
  );
  t.pass();
});
