import { test } from 'tap';
import { tryFaults } from './random_faults.js';

test('2,000 damaged files: each answer is right or names what is lost', async (t) => {
  t.setTimeout(300_000);
  const { answers, lost } = await tryFaults(t, 2_000, 99);
  t.comment(`${lost} of ${answers} answers named a loss`);
});
