import { test } from 'tap';
import { runSequences } from './sequences.js';

const SEQUENCES = 100_000;
const LIMIT_MS = 10_000_000;

test('100,000 random sequences have no difference from the model', { timeout: LIMIT_MS }, async (t) => {
  const { sequences, calls, verdicts, differences } = await runSequences(SEQUENCES, 2);
  t.comment(`${sequences} sequences, ${calls} calls`);
  for (const [verdict, count] of [...verdicts].sort(([, a], [, b]) => b - a))
    t.comment(`${verdict}: ${count}`);
  t.same(differences, []);
  t.equal(sequences, SEQUENCES);
});
