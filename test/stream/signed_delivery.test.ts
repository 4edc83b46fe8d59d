import { test } from 'tap';
import type { Budget } from '../../src/model/budget.js';
import { signedFrameCost } from '../../src/stream/frame_budgets.js';
import { CountedBudget, readerBudgets } from '../model/counted_budget.js';
import { Harness, SIGNED_REAL_TIME } from './harness.js';

const every10ms = { ...SIGNED_REAL_TIME, channel: '10ms' as const };
const MS = 1_000_000n;

/** Returns a budget for this number of frames with a single asset. */
const framesOfOne = (count: number) => new CountedBudget(count * signedFrameCost(1));
const paidBy = (signedFrames: Budget) => readerBudgets({ signedFrames });
const anything = () => true;

test('a newcomer while a frame is being signed gets its snapshot at once and joins after the frame', async (t) => {
  const harness = new Harness({ signsLater: true });
  const first = harness.connect(SIGNED_REAL_TIME);
  first.subscribe(1);
  harness.price(1, 5n);
  harness.endTurn();
  t.equal(harness.signing, 1);
  harness.clock.advance(MS);
  const second = harness.connect(SIGNED_REAL_TIME);
  second.subscribe(1);
  t.same(second.news(), ['1=5']);
  harness.price(1, 6n);
  harness.endTurn();
  t.equal(harness.signing, 1, 'the next frame waits');
  await harness.finishSigning();
  t.same([first.news(), second.news()], [['1=5'], []]);
  harness.advanceMs(2);
  await harness.finishSigning();
  t.same([first.news(), second.news()], [['1=6'], ['1=6']]);
  harness.advanceMs(2);
  harness.price(1, 7n);
  harness.endTurn();
  t.equal(harness.signing, 1, 'one signature for both');
  await harness.finishSigning();
  t.same([first.news(), second.news()], [['1=7'], ['1=7']]);
});

test('fixed channels: a tick that comes while a frame is being signed is skipped and counted', async (t) => {
  const harness = new Harness({ signsLater: true });
  harness.price(1, 5n);
  const client = harness.connect(every10ms);
  client.subscribe(1);
  harness.advanceMs(30, 10);
  t.equal(harness.signing, 1);
  t.equal(harness.counters.ticksSkipped, 2);
  const late = harness.connect(every10ms);
  late.subscribe(1);
  await harness.finishSigning();
  t.same([client.frames.length, late.frames.length], [1, 0]);
  harness.advanceMs(10, 10);
  await harness.finishSigning();
  t.same([client.frames.length, late.frames.length], [2, 1]);
});

test('while the mark of the times is not on disk signed frames wait, and unsigned ones do not', async (t) => {
  const harness = new Harness();
  harness.price(1, 5n);
  const signed = [harness.connect(SIGNED_REAL_TIME), harness.connect(every10ms)];
  const unsigned = harness.connect();
  for (const client of [...signed, unsigned]) client.subscribe(1);
  harness.advanceMs(10, 10);
  for (const client of [...signed, unsigned]) client.news();
  harness.marks.isSlow = true;
  harness.clock.advance(2_000_000_000n);
  harness.price(1, 6n);
  harness.endTurn();
  const late = harness.connect(SIGNED_REAL_TIME);
  late.subscribe(1);
  harness.advanceMs(20, 10);
  t.same(
    signed.map((client) => client.news()),
    [[], []],
  );
  t.same(late.news(), []);
  t.same(unsigned.news(), ['1=6']);
  harness.marks.settle();
  harness.advanceMs(10, 10);
  t.same(
    [...signed, late].map((client) => client.news()),
    [['1=6'], ['1=6'], ['1=6']],
  );
});

test('a group whose token is past its signed frames skips ticks, is counted, and goes on when there is budget again', async (t) => {
  const harness = new Harness();
  const budget = framesOfOne(2);
  const client = harness.connect(every10ms, anything, paidBy(budget));
  harness.price(1, 5n);
  client.subscribe(1);
  harness.advanceMs(50, 10);
  t.equal(client.frames.length, 2);
  t.equal(budget.refusals, 3);
  t.equal(harness.counters.ticksSkipped, 0, 'the service was not late');
  budget.left = signedFrameCost(1);
  harness.advanceMs(10, 10);
  t.equal(client.frames.length, 3);
});

test('real_time: what changed while there was no budget comes in the next frame', async (t) => {
  const harness = new Harness();
  const budget = framesOfOne(2);
  const client = harness.connect(SIGNED_REAL_TIME, anything, paidBy(budget));
  harness.price(1, 5n);
  client.subscribe(1, 3);
  t.same(client.news(), ['1=5'], 'a frame for it alone is paid too');
  harness.advanceMs(1);
  harness.price(1, 6n);
  harness.endTurn();
  t.same(client.news(), ['1=6']);
  harness.advanceMs(1);
  harness.price(1, 7n);
  harness.endTurn();
  harness.price(3, 8n);
  harness.advanceMs(30);
  t.same(client.news(), []);
  t.ok(budget.refusals <= 4, `asked every 10 ms, not every tick: ${budget.refusals}`);
  budget.left = signedFrameCost(2);
  harness.advanceMs(10);
  t.same(client.news(), ['1=7 3=8']);
});

test('real_time: a newcomer without budget is brought up to date when there is some', async (t) => {
  const harness = new Harness();
  const budget = framesOfOne(0);
  harness.price(1, 5n);
  const client = harness.connect(SIGNED_REAL_TIME, anything, paidBy(budget));
  client.subscribe(1);
  harness.advanceMs(20);
  t.same(client.news(), []);
  budget.left = signedFrameCost(1);
  harness.advanceMs(20);
  t.same(client.news(), ['1=5']);
  harness.price(1, 6n);
  budget.left = signedFrameCost(1);
  harness.advanceMs(1);
  t.same(client.news(), ['1=6'], 'and then gets every change');
});

test('who joins the group of another token cannot take its frames away', async (t) => {
  const harness = new Harness();
  harness.price(1, 5n);
  const [poor, rich] = [framesOfOne(1), framesOfOne(100)];
  const clients = [poor, rich].map((budget) => harness.connect(every10ms, anything, paidBy(budget)));
  for (const client of clients) client.subscribe(1);
  harness.advanceMs(100, 10);
  t.same(
    clients.map(({ frames }) => frames.length),
    [10, 10],
    'one frame for both, paid by who can',
  );
  t.equal(rich.refusals, 0);
  clients[1]!.unsubscribe(1);
  harness.advanceMs(100, 10);
  t.equal(clients[0]!.frames.length, 10, 'who left does not pay');
  rich.left = 0;
  clients[0]!.hangUp();
  clients[1]!.subscribe(1);
  harness.advanceMs(10, 10);
  t.equal(rich.refusals, 1);
});

test('the groups of a token that can pay for some get their frames in turn, small ones first', async (t) => {
  const ids = Array.from({ length: 12 }, (_, id) => id);
  const harness = new Harness({ ids });
  for (const id of ids) harness.price(id, 5n);
  const budget = framesOfOne(0);
  const clients = ids.map((id) => {
    const client = harness.connect(every10ms, anything, paidBy(budget));
    if (id > 0) client.subscribe(id);
    else client.subscribe(0, 1);
    return client;
  });
  for (let tick = 1; tick <= 11; tick++) {
    budget.left = 4 * signedFrameCost(1);
    harness.advanceMs(10, 10);
  }
  t.same(
    clients.map(({ frames }) => frames.length),
    [0, ...new Array(11).fill(4)],
  );
});

test('the frames of a tick are signed in pieces, small ones first, and each piece goes out when it is signed', async (t) => {
  const ids = Array.from({ length: 300 }, (_, id) => id);
  const harness = new Harness({ ids, signsLater: true });
  for (const id of ids) harness.price(id, 5n);
  const clients = ids.map((id) => {
    const client = harness.connect(every10ms);
    // The last client has the smallest set.
    client.subscribe(...ids.slice(id, id + (id === 299 ? 1 : 2)), 0);
    return client;
  });
  const sizes = () => clients.filter(({ frames }) => frames.length > 0).length;
  harness.advanceMs(10, 10);
  t.equal(harness.signing, 4);
  await harness.finishSigning();
  t.equal(sizes(), 4);
  t.equal(clients[299]!.frames.length, 1);
  await harness.finishSigning();
  t.equal(sizes(), 132);
  harness.advanceMs(10, 10);
  t.equal(harness.signing, 4, 'groups that were sent their frame go on, the others wait for theirs');
  await harness.finishSigning('failed');
  t.equal(harness.counters.framesSkipped, 128);
  while (harness.signing > 0) await harness.finishSigning();
  t.equal(sizes(), 172);
});

test('connections that are subscribed to nothing do not use up what signed frames need after steps back', async (t) => {
  const harness = new Harness();
  harness.price(1, 1n);
  const hour = 3_600_000_000_000n;
  for (let step = 0; step < 10; step++) {
    const idle = harness.connect(SIGNED_REAL_TIME);
    idle.subscribe(1);
    harness.advanceMs(1_000, 250);
    idle.unsubscribe(1);
    harness.clock.advance(-hour);
    harness.advanceMs(1_000, 250);
  }
  harness.clock.advance(20n * hour);
  harness.advanceMs(1_000, 250);
  t.notOk(harness.times.hasEarlier, 'all have moved on');
  const reader = harness.connect(SIGNED_REAL_TIME);
  reader.subscribe(1);
  harness.advanceMs(10);
  t.same(reader.news(), ['1=1']);
});
