import { test } from 'tap';
import type { Budget } from '../../src/model/budget.js';
import { signedFrameCost } from '../../src/stream/frame_budgets.js';
import { CountedBudget, readerBudgets } from '../model/counted_budget.js';
import { Harness, SIGNED_REAL_TIME } from './harness.js';

const every10ms = { ...SIGNED_REAL_TIME, channel: '10ms' as const };

/** Returns a budget for this number of frames with a single asset. */
const framesOfOne = (count: number) => new CountedBudget(count * signedFrameCost(1));
const paidBy = (signedFrames: Budget) => readerBudgets({ signedFrames });
const anything = () => true;

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
