import { test } from 'tap';
import { CLUSTER_MUTANTS } from './cluster_switches.js';
import { runMutant } from './run_mutant.js';

test('the simulation finds each bent rule of a cluster', { timeout: 1_200_000 }, async (t) => {
  for (const mutant of CLUSTER_MUTANTS) t.equal(await runMutant(mutant), 'found', mutant.name);
});
