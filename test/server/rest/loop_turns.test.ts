import { setTimeout } from 'node:timers/promises';
import { test } from 'tap';
import { PacedTurns } from '../../../src/model/paced_turns.js';
import { loopWorkedMs } from '../../../src/server/rest/loop_turns.js';

const IDLE_MS = 50;

test('a piece that waits owes no rest for the wait', async (t) => {
  const rests: number[] = [];
  const turns = new PacedTurns(loopWorkedMs, (_callback, ms) => rests.push(ms));
  const start = performance.eventLoopUtilization();
  // Other tests of this process may work meanwhile. That work counts, the idle time does not.
  await turns.run('a', async () => {
    for (let i = 0; i < 1_000 && performance.eventLoopUtilization(start).idle < IDLE_MS; i++)
      await setTimeout(20);
  });
  const { active, idle } = performance.eventLoopUtilization(start);
  t.ok(idle >= IDLE_MS, `${idle} ms of idle time`);
  t.ok(rests[0]! <= 2 * active, `a rest of ${rests[0]} ms after ${active} ms of work`);
});
