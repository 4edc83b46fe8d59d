import { test } from 'tap';
import { killRounds } from './kill_rounds.js';

test('kill -9 at any moment loses nothing acknowledged and leaves no partial record', async (t) => {
  const { acknowledged, recovered } = await killRounds(t.testdir(), 5);
  t.ok(acknowledged > 0);
  t.ok(recovered >= acknowledged, `${acknowledged} acknowledged, ${recovered} recovered`);
});
