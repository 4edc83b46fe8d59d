import { test } from 'tap';
import type { AssetIndex } from '../../src/model/asset.js';
import { NS_PER_MS } from '../../src/model/time.js';
import { CountedBudget, readerBudgets } from '../model/counted_budget.js';
import { Harness, REAL_TIME, SIGNED_REAL_TIME } from './harness.js';

test('a request with an id is answered with the whole set, one without is not', async (t) => {
  const client = new Harness().connect();
  client.subscribe(3, 1);
  t.same(client.replies, []);
  client.say({ type: 'subscribe', assets: [500, 1], id: 'a' });
  client.say({ type: 'unsubscribe', assets: [3, 77, 65_535], id: 5 });
  client.say({ type: 'unsubscribe', assets: [], id: 0 });
  client.say({ type: 'ping', id: 7 });
  t.same(client.replies, [
    { type: 'subscribe', id: 'a', assets: [1, 3, 500], invalid: [] },
    { type: 'unsubscribe', id: 5, assets: [1, 500], invalid: [77] },
    { type: 'unsubscribe', id: 0, assets: [1, 500], invalid: [] },
    { type: 'pong', id: 7 },
  ]);
});

test('past its subscription changes a token gets an error, on all of its connections', async (t) => {
  const harness = new Harness();
  const subscriptionChanges = new CountedBudget(3);
  const [one, other] = [1, 2].map(() =>
    harness.connect(REAL_TIME, () => true, readerBudgets({ subscriptionChanges })),
  );
  one!.say({ type: 'subscribe', assets: [1, 3], id: 1 });
  other!.say({ type: 'subscribe', assets: [1, 3], id: 2 });
  other!.say({ type: 'subscribe', assets: [500], id: 3 });
  one!.say({ type: 'unsubscribe', assets: [1], id: 4 });
  const error = "more than subscription_changes_per_second (20) assets in the token's requests of a second";
  t.match(one!.replies, [{ assets: [1, 3] }, { type: 'error', error, id: 4 }]);
  t.match(other!.replies, [{ type: 'error', error, id: 2 }, { assets: [500] }]);
  t.equal(subscriptionChanges.refusals, 2);
  one!.say({ type: 'subscribe', assets: [], id: 5 });
  t.match(one!.replies.at(-1), { assets: [1, 3] }, 'nothing has changed, and asking costs nothing');
});

test('subscribing is all or nothing, or what is known with ignore_invalid', async (t) => {
  const client = new Harness().connect(REAL_TIME, (symbol) => symbol !== 'ASSET500');
  client.subscribe(1, 2, 500, -1);
  const error = 'unknown asset IDs, or not covered by the token: 2, 500, -1';
  t.same(client.replies.splice(0), [{ type: 'error', error }]);
  t.same(client.session.assets, []);
  client.say({ type: 'subscribe', assets: [1, 2], id: 9 });
  t.same(client.replies.splice(0), [
    { type: 'error', error: 'unknown asset IDs, or not covered by the token: 2', id: 9 },
  ]);
  client.say({ type: 'subscribe', assets: [1, 2, 500, 3], id: 9, ignore_invalid: true });
  t.same(client.replies, [{ type: 'subscribe', id: 9, assets: [1, 3], invalid: [2, 500] }]);
});

test('unsubscribing does not tell an ID that the token may not see from one that does not exist', async (t) => {
  const client = new Harness().connect(REAL_TIME, (symbol) => symbol !== 'ASSET500');
  client.say({ type: 'unsubscribe', assets: [1, 500, 2], id: 1 });
  t.same(client.replies, [{ type: 'unsubscribe', id: 1, assets: [], invalid: [500, 2] }]);
});

test('at the limit of subscriptions it works, one past it is an error and changes nothing', async (t) => {
  const client = new Harness({ limits: { subscriptionsPerConnection: 2 } }).connect();
  client.say({ type: 'subscribe', assets: [1, 3], id: 1 });
  client.say({ type: 'subscribe', assets: [1], id: 2 });
  client.say({ type: 'subscribe', assets: [500], id: 3 });
  client.say({ type: 'unsubscribe', assets: [], id: 4 });
  t.match(client.replies, [
    { id: 1, assets: [1, 3] },
    { id: 2, assets: [1, 3] },
    { type: 'error', id: 3, error: '3 subscriptions, subscriptions_per_connection is 2' },
    { id: 4, assets: [1, 3] },
  ]);
});

test('after ten bad messages, of whatever kind, the connection is closed with 1008', async (t) => {
  const client = new Harness().connect();
  for (let i = 0; i < 4; i++) client.say('x');
  for (let i = 0; i < 5; i++) client.harness.engine.refuseOversize(client.session, 65_537);
  t.equal(client.closedWith, undefined);
  t.equal(client.replies.length, 9);
  t.equal(
    client.replies.at(-1)!['error'],
    'the message has 65537 bytes, client_message_bytes is 65536: send several messages',
  );
  client.say('[]');
  t.equal(client.closedWith, 1008);
  t.equal(client.replies.length, 10);
});

test('control messages are limited for each second of the clock', async (t) => {
  const harness = new Harness({ limits: { controlMessagesPerSecond: 3 } });
  const client = harness.connect();
  const other = harness.connect();
  for (let i = 1; i <= 5; i++) client.say({ type: 'unsubscribe', assets: [], id: i });
  other.say({ type: 'unsubscribe', assets: [], id: 1 });
  const error = 'more than control_messages_per_second (3) messages in a second';
  t.match(client.replies.splice(0), [{ id: 1 }, { id: 2 }, { id: 3 }, { error, id: 4 }, { error, id: 5 }]);
  t.match(other.replies, [{ type: 'unsubscribe' }]);
  harness.clock.advance(999_999_999n);
  client.say({ type: 'unsubscribe', assets: [], id: 6 });
  t.match(client.replies.splice(0), [{ error }]);
  harness.clock.advance(1n);
  client.say({ type: 'unsubscribe', assets: [], id: 7 });
  t.match(client.replies, [{ type: 'unsubscribe', id: 7 }]);
});

/** Returns a catalogue of the harness's assets with these streaming IDs, in the order of their indexes; `0` for a removed asset. */
function reloadIds(harness: Harness, ids: readonly number[]): void {
  const assets = ids.map((id, i) => ({ symbol: `ASSET${i}`, index: i as AssetIndex, id }));
  harness.table.resize(ids);
  harness.engine.reload({ assets, listed: assets.filter(({ id }) => id !== 0) });
}

for (const options of [REAL_TIME, SIGNED_REAL_TIME, { ...REAL_TIME, channel: '10ms' as const }])
  test(`assets that a reload removes return with another: ${JSON.stringify(options)}`, async (t) => {
    const harness = new Harness({ ids: [1, 2, 3] });
    const client = harness.connect(options);
    const idle = harness.connect(options);
    client.subscribe(1, 2, 3);
    idle.subscribe(3);
    for (const id of [1, 2, 3]) harness.price(id, BigInt(id));
    harness.advanceMs(20);
    reloadIds(harness, [1, 0, 0]);
    t.same(
      [client.replies, idle.replies],
      [[{ type: 'taxonomy', ended: [2, 3] }], [{ type: 'taxonomy', ended: [3] }]],
    );
    t.same([client.session.assets, idle.session.assets], [[0], []]);
    client.unsubscribe(2);
    for (const one of [client, idle]) one.news();
    reloadIds(harness, [4, 2, 1]);
    t.same(client.replies.at(-1), { type: 'taxonomy', returned: [1] }, 'under the ID that the other one had');
    t.same(idle.replies.at(-1), { type: 'taxonomy', returned: [1] });
    harness.advanceMs(20);
    t.equal(client.news().at(-1), options.channel === 'real_time' ? '1=3' : '1=3 4=1');
    t.equal(idle.news().at(-1), '1=3');
    for (const one of [client, idle]) one.hangUp();
    reloadIds(harness, [1, 0, 0]);
    t.equal(harness.engine.groupCount, 0);
  });

test('an engine asks for ticks at the smallest interval that has readers', async (t) => {
  const harness = new Harness();
  harness.price(1, 5n);
  for (const channel of ['50ms', '20ms'] as const) harness.connect({ ...REAL_TIME, channel }).subscribe(1);
  const gapsMs = Array.from({ length: 5 }, () => {
    const gapMs = Number(harness.nextTickNs / NS_PER_MS);
    harness.advanceMs(gapMs);
    return gapMs;
  });
  t.same(gapsMs, [20, 20, 10, 10, 20], 'the multiples of both');
});
