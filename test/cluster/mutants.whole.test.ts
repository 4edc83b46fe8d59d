import { test } from 'tap';
import { failsSome, NOT_APPLIED, TWO_AUTHORS } from './simulation/fails_some.js';
import { simulate } from './simulation/simulation.js';

// Tests that the simulation finds faults that would break the cluster. Each mutant runs the real code without one of its
// rules.

test('two writes in flight', async (t) => {
  await failsSome(t, NOT_APPLIED, { mutant: 'TWO_IN_FLIGHT' });
});

test('two writes in flight without the ID: a record of the old leader behind the claim of the new one', async (t) => {
  await failsSome(t, TWO_AUTHORS, { mutant: 'TWO_IN_FLIGHT_NO_ID' });
});

test('writes without the ID, when the servers have lost records', async (t) => {
  const seed = await failsSome(t, TWO_AUTHORS, { mutant: 'NO_ID', losesRecords: true });
  const { violations } = await simulate(seed, { losesRecords: true });
  t.same(
    violations.filter((text) => TWO_AUTHORS.test(text)),
    [],
    'with it, nobody writes where another record stands',
  );
});

test('a claim that expects the end of the log instead of what was applied', async (t) => {
  await failsSome(t, NOT_APPLIED, { mutant: 'CLAIMS_AT_THE_END' });
});

test('a tick without a look at the lease', async (t) => {
  await failsSome(t, /ticks in epoch \d+ \S+ ms after epoch \d+ began/, { mutant: 'SKIPS_LEASE' });
});
