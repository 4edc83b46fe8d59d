import { test } from 'tap';
import { cases } from '../../tier.js';
import { tryFaults } from './random_faults.js';

test('with a damaged file each answer is right or names what is lost, and each range goes on', async (t) => {
  const { answers, lost } = await tryFaults(t, cases(100), 7);
  t.comment(`${lost} of ${answers} answers named a loss`);
  t.ok(lost > 5);
});
