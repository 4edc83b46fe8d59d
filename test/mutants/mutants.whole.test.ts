import { test } from 'tap';
import { hasLine, runMutant } from './run_mutant.js';
import { MUTANTS } from './switches.js';

/** The number of mutants that this tier tries, beside those of the cluster. The others are tried by `npm run test:long`. */
const SAMPLE = 10;

test('a line that stays as it is lets its test pass', async (t) => {
  const [one] = MUTANTS;
  t.equal(await runMutant({ ...one!, bent: one!.line }), 'missed');
});

test('some bent lines make the test fail that is named for each', async (t) => {
  const step = Math.floor(MUTANTS.length / SAMPLE);
  for (let i = 0; i < SAMPLE; i++) {
    const mutant = MUTANTS[i * step]!;
    t.equal(await runMutant(mutant), 'found', `${mutant.module}: ${mutant.name}`);
  }
});

test('each module has the line of its mutants exactly once', async (t) => {
  for (const mutant of MUTANTS) t.ok(hasLine(mutant), `${mutant.module}: ${mutant.name}`);
});
