import { test } from 'tap';
import { CHECKS, everyCheckPasses, runTorture } from './run_torture.js';

test('every check of the torture passes at its smallest size', async (t) => {
  await everyCheckPasses(t, '--smoke');
});

test('an unknown name is an error that lists all checks', async (t) => {
  const { stderr } = await runTorture('nothing');
  for (const check of CHECKS) t.match(stderr, check);
});
