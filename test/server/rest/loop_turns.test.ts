import { test } from 'tap';
import { PacedTurns } from '../../../src/model/paced_turns.js';
import { loopWorkedMs } from '../../../src/server/rest/loop_turns.js';

test('a piece that waits owes no rest for the wait', async (t) => {
  const rests: number[] = [];
  const turns = new PacedTurns(loopWorkedMs, (_callback, ms) => rests.push(ms));
  const start = performance.eventLoopUtilization();
  await turns.run('a', () => new Promise((resolve) => setTimeout(resolve, 200)));
  // Other tests of this process may work meanwhile. That work counts, the idle time does not.
  const { active, idle } = performance.eventLoopUtilization(start);
  t.ok(idle > 0, `${idle} ms of idle time`);
  t.ok(rests[0]! <= 2 * active, `a rest of ${rests[0]} ms after ${active} ms of work`);
});
