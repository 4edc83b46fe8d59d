import { test } from 'tap';
import { PacedTurns } from '../../../src/model/paced_turns.js';
import { loopWorkedMs } from '../../../src/server/rest/loop_turns.js';

test('a piece that waits owes no rest for the wait', async (t) => {
  const rests: number[] = [];
  const turns = new PacedTurns(loopWorkedMs, (_callback, ms) => rests.push(ms));
  await turns.run('a', () => new Promise((resolve) => setTimeout(resolve, 200)));
  // 200 ms of work owe a rest of 400 ms. Other work of a busy process counts as well.
  t.ok(rests[0]! < 380, `a rest of ${rests[0]} ms after a wait of 200 ms`);
});
