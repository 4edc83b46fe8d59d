import { test } from 'tap';
import { Harness, REAL_TIME, SIGNED_REAL_TIME } from './harness.js';

test('real_time: a slow reader leaves the topic and catches up with the newest values', async (t) => {
  for (const options of [REAL_TIME, SIGNED_REAL_TIME]) {
    const harness = new Harness();
    const slow = harness.connect(options);
    const quick = harness.connect(options);
    for (const client of [slow, quick]) client.subscribe(1, 3, 500);
    harness.price(500, 1n);
    harness.endTurn();
    slow.stopReading();
    harness.advanceMs(2);
    for (let i = 1n; i <= 20n; i++) {
      harness.price(i % 2n === 0n ? 1 : 3, i);
      harness.endTurn();
      harness.advanceMs(2);
    }
    t.equal(quick.news().length, 21);
    t.same(slow.news(), ['500=1', '3=1'], 'one frame fills its socket, the others are left out');
    t.equal(slow.topics.size, 0);
    t.equal(harness.counters.framesSkipped, 19);
    slow.read(10);
    t.same(slow.news(), [], 'something still waits');
    slow.read();
    t.same(slow.news(), ['1=20 3=19']);
    harness.price(1, 21n);
    harness.endTurn();
    harness.advanceMs(2);
    t.same([slow.news(), quick.news()], [['1=21'], ['1=21']]);
  }
});

test('fixed channels: a slow reader waits outside the topic, and gets the next tick after it has read', async (t) => {
  const harness = new Harness();
  harness.price(1, 1n);
  const slow = harness.connect({ ...REAL_TIME, channel: '10ms' });
  slow.subscribe(1);
  slow.stopReading();
  harness.advanceMs(100, 10);
  t.same([slow.news().length, slow.topics.size, harness.counters.framesSkipped], [1, 0, 9]);
  harness.price(1, 2n);
  slow.read();
  t.same(slow.news(), []);
  harness.advanceMs(10, 10);
  t.same(slow.news(), ['1=2']);
});

test('a reader without progress is closed with 1013 after slow_consumer, one with progress is not', async (t) => {
  const harness = new Harness({ limits: { slowConsumerNs: 10_000_000_000n } });
  const stuck = harness.connect();
  const trickling = harness.connect();
  const quick = harness.connect();
  for (const client of [stuck, trickling, quick]) client.subscribe(1);
  stuck.stopReading();
  trickling.stopReading();
  harness.price(1, 1n);
  harness.endTurn();
  harness.advanceMs(10);
  harness.price(1, 2n);
  harness.endTurn();
  for (let i = 0; i < 9; i++) {
    harness.advanceMs(1000, 10);
    trickling.read(1);
  }
  harness.advanceMs(900, 10);
  t.equal(stuck.closedWith, undefined);
  harness.advanceMs(600, 10);
  t.equal(stuck.closedWith, 1013);
  t.equal(trickling.closedWith, undefined);
  t.equal(harness.counters.slowConsumersClosed, 1);
  trickling.read();
  t.same(trickling.news(), ['1=1', '1=2']);
  t.equal(harness.engine.groupCount, 1);
});

test('one that goes on asking and reads nothing is closed all the same', async (t) => {
  const harness = new Harness({ limits: { slowConsumerNs: 10_000_000_000n } });
  const client = harness.connect();
  client.stopReading();
  client.bufferedBytesMax = 0;
  for (let second = 0; second < 12; second++) {
    if (client.closedWith === undefined) client.say({ type: 'ping', id: second });
    harness.advanceMs(1_000, 250);
  }
  t.equal(client.closedWith, 1013);
});
