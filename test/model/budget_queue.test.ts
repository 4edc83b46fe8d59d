import { test } from 'tap';
import { budgetWords, SharedBudget } from '../../src/model/budget.js';
import { BudgetQueue } from '../../src/model/budget_queue.js';
import { NS_PER_MS } from '../../src/model/time.js';

/** A queue whose budget regains one unit in each millisecond of a simulated clock. */
function simulated() {
  const state = { nowMs: 1_000, refusals: 0 };
  const timers: { readonly atMs: number; readonly callback: () => void }[] = [];
  const budget = new SharedBudget(budgetWords(1), 0, { perSecond: 1_000, burst: 1_000 }, () => {
    state.refusals++;
  });
  const queue = new BudgetQueue(
    budget,
    () => BigInt(state.nowMs) * NS_PER_MS,
    (callback, ms) => timers.push({ atMs: state.nowMs + ms, callback }),
  );
  const advance = async (untilMs: number) => {
    for (; state.nowMs < untilMs; state.nowMs++) {
      for (const timer of timers.splice(0))
        if (timer.atMs <= state.nowMs) timer.callback();
        else timers.push(timer);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { queue, state, timers, advance };
}

test('work with a high cost has its turn beside work with a low cost, and each wait is one refusal', async (t) => {
  const { queue, state, timers, advance } = simulated();
  await queue.pay(1_000);
  t.same([timers.length, state.refusals], [0, 0], 'a piece with enough budget waits for nothing');
  state.nowMs += 1_000;
  const costs = [10, 10, 10, 10, 10, 256];
  const pieces = costs.map(() => 0);
  const lastMs = costs.map(() => state.nowMs);
  let isOver = false;
  const work = Promise.all(
    costs.map(async (cost, reader) => {
      while (!isOver) {
        await queue.pay(cost);
        pieces[reader]!++;
        t.ok(state.nowMs - lastMs[reader]! < 2_000, 'no reader waits long');
        lastMs[reader] = state.nowMs;
      }
    }),
  );
  await advance(32_000);
  t.ok(Math.max(...pieces) - Math.min(...pieces) <= 105, `the readers took turns: ${pieces}`);
  const paid = costs.reduce((sum, cost, reader) => sum + cost * pieces[reader]!, 0);
  t.ok(paid > 29_000 && paid <= 31_000, `${paid} of 31,000 units are used`);
  isOver = true;
  await advance(34_000);
  await work;
  await advance(34_100);
  t.equal(timers.length, 0, 'nothing is checked when nothing waits');
});
