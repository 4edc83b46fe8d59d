import { test } from 'tap';
import { planThreads } from '../../../../src/service/edge/threads/thread_plan.js';

test('auto serves on the main thread, and leaves the other cores to signatures', async (t) => {
  const plans = [1, 2, 4, 5, 8, 16].map((cores) => planThreads('auto', cores));
  t.same(plans, [
    { listen: 1, crypto: 1 },
    { listen: 1, crypto: 1 },
    { listen: 1, crypto: 3 },
    { listen: 1, crypto: 4 },
    { listen: 1, crypto: 7 },
    { listen: 1, crypto: 15 },
  ]);
  t.same(planThreads(3, 8), { listen: 3, crypto: 4 });
  t.same(planThreads(4, 2), { listen: 4, crypto: 1 });
  t.same(planThreads(1, 8), { listen: 1, crypto: 7 });
});
