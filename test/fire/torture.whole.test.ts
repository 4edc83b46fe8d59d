import { test } from 'tap';
import { CHECKS, checksPass, runTorture } from './run_torture.js';

/** The checks whose attacks no other test of the whole tier makes. */
const ALONE = ['stalled', 'leaks', 'handles', 'threads', 'power', 'fair', 'ranges'];

test('checks of the torture pass at their smallest size', async (t) => {
  await checksPass(t, ALONE, '--smoke');
});

test('an unknown name is an error that lists all checks', async (t) => {
  const { stderr } = await runTorture('nothing');
  for (const check of CHECKS) t.match(stderr, check);
});
