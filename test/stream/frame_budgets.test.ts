import { test } from 'tap';
import { FrameBudgets } from '../../src/stream/frame_budgets.js';
import { CountedBudget } from '../model/counted_budget.js';
import { START_NS } from '../model/sample.js';

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
  for (const budget of [budgets[0]!, budgets[0]!, budgets[1]!]) payers.delete(budget);
  t.ok(payers.pay(10, START_NS));
  t.equal(budgets[2]!.left, 70, 'who has no connection in the group does not pay');
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
