import { test } from 'tap';
import { FrameBudgets, signedFrameCost } from '../../src/stream/frame_budgets.js';
import { CountedBudget } from '../model/counted_budget.js';
import { START_NS } from '../model/sample.js';

test('a frame of a thousand assets costs three and a half times as much as one of a single asset', async (t) => {
  t.equal(Math.round((10 * signedFrameCost(1000)) / signedFrameCost(1)), 35);
});

test('callers pay for the frames of their group in turn', async (t) => {
  const payers = new FrameBudgets();
  const budgets = [1, 2, 3].map(() => new CountedBudget(100));
  for (const budget of budgets) payers.add(budget);
  payers.add(budgets[0]!);
  for (let frame = 1; frame <= 6; frame++) t.ok(payers.pay(10, START_NS));
  t.same(
    budgets.map(({ left }) => left),
    [80, 80, 80],
    'however many connections each has',
  );
});

test('a frame is left out when none of the callers can pay, and one of them is counted', async (t) => {
  const payers = new FrameBudgets();
  const [poor, rich] = [new CountedBudget(5), new CountedBudget(20)];
  payers.add(poor);
  payers.add(rich);
  t.ok(payers.pay(10, START_NS));
  t.ok(payers.pay(10, START_NS), 'one that can pay is found');
  t.notOk(payers.pay(10, START_NS));
  t.same([poor.left, rich.left], [5, 0]);
  t.equal(poor.refusals + rich.refusals, 1);
});

test('a lone caller pays each frame, and each refusal counts for that caller', async (t) => {
  const payers = new FrameBudgets();
  const [lone, later] = [new CountedBudget(25), new CountedBudget(100)];
  payers.add(lone);
  payers.add(lone);
  t.ok(payers.pay(10, START_NS));
  t.ok(payers.pay(10, START_NS));
  t.notOk(payers.pay(10, START_NS));
  t.same([lone.left, lone.refusals], [5, 1]);
  payers.add(later);
  t.ok(payers.pay(10, START_NS), 'another caller of the group pays');
  t.same([lone.left, later.left], [5, 90]);
});

test('who has no connection in the group does not pay', async (t) => {
  const payers = new FrameBudgets();
  const [gone, left] = [new CountedBudget(100), new CountedBudget(100)];
  payers.add(gone);
  payers.add(gone);
  payers.add(left);
  payers.delete(gone);
  payers.delete(gone);
  t.ok(payers.pay(10, START_NS));
  t.ok(payers.pay(10, START_NS));
  t.same([gone.left, left.left], [100, 80]);
});
