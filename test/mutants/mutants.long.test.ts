import { test } from 'tap';
import { runMutant } from './run_mutant.js';
import { MUTANTS } from './switches.js';

test('each bent line makes the test fail that is named for it', { timeout: 3_600_000 }, async (t) => {
  t.ok(MUTANTS.length >= 60, `${MUTANTS.length} lines`);
  for (const mutant of MUTANTS) t.equal(await runMutant(mutant), 'found', `${mutant.module}: ${mutant.name}`);
});
