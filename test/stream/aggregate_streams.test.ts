import fc from 'fast-check';
import { test } from 'tap';
import type { Asset } from '../../src/model/asset.js';
import { NOTHING_SENT } from '../../src/stream/reader_session.js';
import { sampleAsset } from '../model/sample.js';
import { AggregateHarness, sampleAssets } from './aggregate_harness.js';

test('a subscriber is answered, gets what there is, and then one frame of what is signed in a turn', async (t) => {
  const harness = new AggregateHarness();
  const first = harness.sign('A0');
  const client = harness.connect();
  client.send({ type: 'subscribe', data: ['A0', 'A1', 'A0'], trace_id: 'x' });
  const [answer, frame, ...rest] = client.takeReceived();
  t.same(answer, { type: 'subscribe', trace_id: 'x', data: { subscriptions: ['A0', 'A1'] } });
  t.match(frame, { type: 'oracle_prices', trace_id: /^[0-9a-f]+-[0-9a-f]+$/, data: { A0: first } });
  t.same(rest, []);

  const other = harness.connect();
  other.subscribe('A0', 'A1');
  const before = { ...harness.counters };
  for (const symbol of ['A1', 'A0', 'A1', 'A2']) harness.sign(symbol);
  t.same(client.takePrices(), [], 'not before the turn ends');
  harness.endTurn();
  t.same(client.takePrices(), [Object.entries({ A0: 3, A1: 4 })]);
  t.equal(harness.counters.framesMade, before.framesMade + 1, 'one frame for both readers');
  client.unsubscribe('A1', 'A3');
  t.same(client.takeReceived(), [{ type: 'unsubscribe', data: { subscriptions: ['A0'] } }]);
  harness.sign('A1');
  harness.endTurn();
  t.same(client.takeReceived(), []);
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

test('what is no request is named', async (t) => {
  const harness = new AggregateHarness();
  const client = harness.connect();
  const bad: [unknown, RegExp][] = [
    ['{', /not JSON/],
    [[], /not a JSON object/],
    [{ type: 'publish', data: ['A0'] }, /^type is not "subscribe" or "unsubscribe" or "ping"$/],
    [{ type: 'subscribe', data: 'A0' }, /^data/],
    [{ type: 'subscribe', data: [1] }, /^data/],
    [{ type: 'subscribe', data: ['A0'], trace_id: 'x'.repeat(257) }, /^trace_id/],
    [{ type: 'ping', id: {} }, /^id is not a number/],
    ['['.repeat(100), /more than 64/],
  ];
  for (const [message, error] of bad) {
    client.send(message);
    const [answer, ...rest] = client.takeReceived();
    t.match(answer, { type: 'error', error });
    t.notOk('data' in answer!, 'clients know prices by it');
    t.same(rest, []);
  }
});

test('a slow reader gets the newest of each asset when it reads again, or is closed', async (t) => {
  const harness = new AggregateHarness();
  const [slow, dead] = [harness.connect(), harness.connect()];
  for (const client of [slow, dead]) {
    client.subscribe('A0', 'A1', 'A2');
    client.takeReceived();
    client.isStuck = true;
  }
  for (const symbol of ['A0', 'A1', 'A0']) {
    harness.sign(symbol);
    harness.endTurn();
  }
  const [{ index }] = harness.assets.filter(({ symbol }) => symbol === 'A1') as [Asset];
  harness.latest.delete(index);
  slow.drain();
  t.same(slow.takePrices(), [[['A0', 3]]], 'the newest, none that has ended, and nothing twice');
  t.equal(harness.counters.framesSkipped, 6);
  harness.streams.tick(harness.clock.advance(10_100_000_000n));
  t.same([slow.closed, dead.closed], [undefined, 1013]);
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

test('a reload takes away what is no longer listed or allowed', async (t) => {
  const harness = new AggregateHarness();
  const allowed = new Set(['A0', 'A1', 'A2']);
  const client = harness.connect('evm', (symbol) => allowed.has(symbol));
  client.subscribe('A0', 'A1', 'A2');
  allowed.delete('A1');
  harness.assets = harness.assets.filter(({ symbol }) => symbol !== 'A2');
  harness.streams.reload();
  t.same(client.session.assets, [harness.assets[0]]);
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
          if (client.known.get(symbol) !== harness.latest.get(all[symbols.indexOf(symbol)]!.index))
            return false;
      for (const client of clients) client.close();
      return harness.streams.groupCount === 0;
    }),
    { numRuns: 2_000 },
  );
  t.pass();
});
