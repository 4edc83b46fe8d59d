import { test } from 'tap';
import { createFaultyPool } from '../faulty_pool.js';
import { evmJobs, evmVerdicts } from './sample_jobs.js';

test('the calling thread goes on while a thread hangs, and leaves the jobs of that thread alone', async (t) => {
  const { pool, hang, hanging, expire } = await createFaultyPool(1);
  hang(2);
  const hung = pool.verifyEvm(evmJobs.slice(0, 40));
  const refused = t.rejects(async () => hung, { name: 'ThreadHung' });
  await hanging(1);
  t.same(await pool.verifyEvm(evmJobs), evmVerdicts);
  t.equal(pool.queued, 40);
  expire();
  await hanging(0);
  t.same(await pool.verifyEvm(evmJobs), evmVerdicts);
  expire();
  await refused;
  t.equal(pool.queued, 0);
  await pool.close();
});

for (const [crashes, threads] of [
  [1, 1],
  [2, 1],
  [2, 2],
  [7, 2],
] as const) {
  test(`${threads} threads that crash ${crashes} times lose no job`, async (t) => {
    const { pool, crash, crashesLeft } = await createFaultyPool(threads);
    crash(crashes);
    // The test may need several bursts of jobs. While the threads restart, the calling thread does the waiting work, so one burst
    // may cause only a few crashes.
    while (crashesLeft() > 0) {
      const batches = Array.from({ length: 6 }, (_, i) => evmJobs.slice(i, i + 120));
      const results = await Promise.all(batches.map((jobs) => pool.verifyEvm(jobs)));
      results.forEach((verdicts, i) => {
        t.same(verdicts, evmVerdicts.slice(i, i + 120));
      });
    }
    t.equal(pool.failures, crashes);
    const after = pool.verifyEvm(evmJobs);
    t.ok(after instanceof Promise, 'the pool goes on with fresh threads');
    t.same(await after, evmVerdicts);
    t.equal(pool.failures, crashes);
    await pool.close();
  });
}

test('jobs with which two threads hang are refused, and closing waits no longer than that', async (t) => {
  const { pool, hang, hanging, hangsLeft, expire } = await createFaultyPool(1);
  const onePiece = evmJobs.slice(0, 100);
  const verdicts = evmVerdicts.slice(0, 100);
  hang(2);
  const refused = t.rejects(async () => pool.verifyEvm(onePiece), { name: 'ThreadHung' });
  for (const left of [1, 0]) {
    await hanging(left);
    expire();
  }
  await refused;
  t.equal(pool.queued, 0);
  t.same(await pool.verifyEvm(onePiece), verdicts);
  hang(2);
  const refusedAtTheEnd = t.rejects(async () => pool.verifyEvm(onePiece), { name: 'ThreadHung' });
  const behind = pool.verifyEvm(onePiece);
  await hanging(1);
  const closed = pool.close();
  expire();
  await closed;
  await refusedAtTheEnd;
  t.same(await behind, verdicts, 'what waited behind it is done on the calling thread');
  t.equal(hangsLeft(), 1, 'no second thread is lost to it at the end');
});
