import { test } from 'tap';
import { CHECKS, checksPass } from './run_torture.js';

const rounds = Number(process.env['TICKSEAL_TEST_ROUNDS'] ?? 3);

for (let round = 1; round <= rounds; round++)
  test(`every check of the torture passes, round ${round} of ${rounds}`, async (t) => {
    await checksPass(t, CHECKS);
  });
