import { test } from 'tap';
import { tryFaults } from './random_faults.js';

test('with a damaged file each answer is right or names what is lost, and each range goes on', async (t) => {
  const { answers, lost } = await tryFaults(t, 100, 7);
  t.comment(`${lost} of ${answers} answers named a loss`);
  t.ok(lost > 20);
});
