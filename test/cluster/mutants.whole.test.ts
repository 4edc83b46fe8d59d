import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { test } from 'tap';
import type { MUTANTS } from './simulation/mutants.js';
import type { Found, Search } from './simulation/search.js';
import { simulate } from './simulation/simulation.js';

// Tests that the simulation detects bugs that would break the cluster. Each mutant runs the real code without one of its rules.

const NOT_APPLIED = /writes after record \d+, and has applied/;

const TWO_AUTHORS = /record \d+ of n\S+ in epoch \d+ follows epoch/;

const SCHEDULES_MAX = 2_000;
const TIMEOUT_MS = 180_000;

/** The invariant that each mutant violates. */
const RULES: Readonly<Record<keyof typeof MUTANTS, RegExp>> = {
  TWO_IN_FLIGHT: NOT_APPLIED,
  TWO_IN_FLIGHT_NO_ID: TWO_AUTHORS,
  CLAIMS_AT_THE_END: NOT_APPLIED,
  CLAIMS_BEHIND: /claims record \d+, and knows that the log had \d+/,
  SKIPS_LEASE: /ticks in epoch \d+ \S+ ms after epoch \d+ began/,
  BRINGS_NOTHING_BACK: /stops, and has what the log lost/,
  BLIND_TO_THE_CHAIN: /applies \d+|cannot go on/,
  SENDS_AS_NEW: /is refused, and the log has it|which was refused/,
  ACKNOWLEDGES_EARLY: /update \d+ was durable, and the log lacks it/,
  NO_CHECKPOINTS: /the log no longer has an input of asset 3/,
};

for (const [mutant, rule] of Object.entries(RULES) as [keyof typeof RULES, RegExp][])
  test(`the simulation finds ${mutant}`, { timeout: TIMEOUT_MS }, async (t) => {
    const workerData: Search = { mutant, rule, schedulesMax: SCHEDULES_MAX };
    const worker = new Worker(new URL('./simulation/search.js', import.meta.url), {
      workerData,
      execArgv: [],
    });
    const [found] = (await once(worker, 'message')) as [Found];
    t.ok(
      found,
      found ? `seed ${found.seed}: ${found.violation}` : `no schedule of ${SCHEDULES_MAX} shows it`,
    );
    if (found === undefined) return;
    const { violations } = await simulate(found.seed);
    t.same(violations, [], 'the same schedule breaks no rule of the real code');
  });
