import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { test } from 'tap';
import { budgetWords, DEBT_NS_MAX, SharedBudget } from '../../src/model/budget.js';
import { NS_PER_MS, NS_PER_SECOND } from '../../src/model/time.js';
import { START_NS } from '../model/sample.js';

const budgetOf = (perSecond: number, burst: number, words = budgetWords(1)) =>
  new SharedBudget(words, 0, { perSecond, burst }, () => {});

test('a burst may come at once, and then so much a second', async (t) => {
  const budget = budgetOf(10, 5);
  t.ok(budget.take(5, START_NS));
  t.notOk(budget.take(1, START_NS));
  t.notOk(budget.take(1, START_NS + 99n * NS_PER_MS));
  t.ok(budget.take(1, START_NS + 100n * NS_PER_MS), 'a tenth of a second later');
  t.notOk(budget.take(1, START_NS + 100n * NS_PER_MS));
  t.ok(budget.take(5, START_NS + 10n * NS_PER_SECOND));
  t.notOk(budget.take(1, START_NS + 10n * NS_PER_SECOND), 'no more than a burst is saved');
});

test('what is owed comes off later, and keeps nobody out for long', async (t) => {
  const budget = budgetOf(10, 5);
  budget.owe(7, START_NS);
  t.notOk(budget.has(1, START_NS + 299n * NS_PER_MS));
  t.ok(budget.has(1, START_NS + 300n * NS_PER_MS), 'two of debt, and the one that is asked for');
  t.ok(budget.take(1, START_NS + 300n * NS_PER_MS));
  t.notOk(budget.has(1, START_NS + 300n * NS_PER_MS));
  for (let i = 0; i < 100; i++) budget.owe(1_000, START_NS + NS_PER_SECOND);
  t.notOk(budget.has(1, START_NS + NS_PER_SECOND + DEBT_NS_MAX));
  t.ok(budget.take(1, START_NS + NS_PER_SECOND + DEBT_NS_MAX + 100n * NS_PER_MS));
});

test('a thread whose clock is behind gets no second burst; after a step back of the clock there is a new one', async (t) => {
  const words = budgetWords(1);
  t.ok(budgetOf(10, 10, words).take(10, START_NS));
  t.notOk(budgetOf(10, 10, words).take(1, START_NS - 5n * NS_PER_MS));
  t.ok(budgetOf(10, 10, words).take(10, START_NS - 2n * NS_PER_SECOND));
});

test('in no time more is taken than the burst and what came back', (t) => {
  const step = fc.record({
    afterMs: fc.integer({ min: 0, max: 300 }),
    cost: fc.integer({ min: 0, max: 12 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const budget = budgetOf(20, 10);
      let nowMs = 0;
      const taken: { atMs: number; cost: number }[] = [];
      for (const { afterMs, cost } of steps) {
        nowMs += afterMs;
        if (budget.take(cost, START_NS + BigInt(nowMs) * NS_PER_MS)) taken.push({ atMs: nowMs, cost });
      }
      return taken.every(({ atMs: fromMs }, first) => {
        let sum = 0;
        return taken.slice(first).every(({ atMs, cost }) => {
          sum += cost;
          return sum <= 10 + ((atMs - fromMs) * 20) / 1_000;
        });
      });
    }),
  );
  t.end();
});

test('threads that share a word take no more than it holds', async (t) => {
  const words = budgetWords(2);
  const source = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(workerData.module).then(({ SharedBudget }) => {
      const budget = new SharedBudget(workerData.words, 0, { perSecond: 1, burst: 100_000 }, () => {});
      let taken = 0;
      for (let i = 0; i < 80_000; i++) if (budget.take(1, ${START_NS}n)) taken++;
      parentPort.postMessage(taken);
    });
  `;
  const module = new URL('../../src/model/budget.js', import.meta.url).href;
  const start = () => new Worker(source, { eval: true, workerData: { words, module }, execArgv: [] });
  const threads = [start(), start()];
  const taken = await Promise.all(threads.map((thread) => once(thread, 'message')));
  t.equal(taken[0]![0] + taken[1]![0], 100_000);
  t.ok(new SharedBudget(words, 1, { perSecond: 1, burst: 1 }, () => {}).take(1, START_NS), 'the word beside');
  await Promise.all(threads.map((thread) => thread.terminate()));
});
