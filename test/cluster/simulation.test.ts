import { test } from 'tap';
import { planOf } from './simulation/plan.js';
import { simulate } from './simulation/simulation.js';
import { withstands } from './simulation/withstands.js';

// Runs schedules of faults. A seed determines each schedule, and only the schedule moves the clock. The seeds follow the date, so
// that each day uses other seeds. The test's name contains the first seed. To run a single schedule: SEED=42 node
// dist/test/cluster/simulation.test.js

const SCHEDULES = 250;
const MS_PER_DAY = 86_400_000;

const seed = process.env.SEED === undefined ? undefined : Number(process.env.SEED);
const first = seed ?? Math.floor(Date.now() / MS_PER_DAY) * SCHEDULES;
const last = seed ?? first + SCHEDULES - 1;

test(`whatever fails, the log has one author at a time (seeds ${first} to ${last})`, async (t) => {
  await withstands(t, { first, last });
});

test('a schedule follows from its seed', async (t) => {
  t.same(await simulate(7), await simulate(7));
  t.not((await simulate(7)).records, (await simulate(8)).records);
});

for (const [name, ...seeds] of [
  ['a refused update may be lost', 2_632_944_012, 2_632_849_184, 2_633_326_468],
  ['a damaged record is read from another server', 2_663_291_012, 2_663_310_488, 2_663_317_752],
  ['a node whose own epoch the servers lost follows another epoch of that number', 2_672_798_647],
  ['a leader that has seen a tick of a lost epoch stays ready', 2_674_982_745],
  ['a node whose last record the servers lost does not lead', 2_674_970_565],
  ['an operator who starts a new log keeps what a leader wrote after a loss', 2_674_966_582, 2_674_975_059],
] as const)
  test(name, async (t) => {
    for (const seed of seeds) {
      const { repeatedTimes } = await withstands(t, { first: seed, last: seed });
      t.equal(repeatedTimes, 0, 'no time has two values');
    }
  });

test('a write that the servers confirm at another place does not count as written', async (t) => {
  for (let seed = 1; seed <= 10; seed++) {
    const plan = planOf(seed);
    const fault = { atMs: 1_200, kind: 'misplacedWrites', lastsMs: 3_000, node: 0, seed } as const;
    const outcome = await simulate(seed, { plan: { ...plan, faults: [fault, ...plan.faults] } });
    t.same(outcome.violations, [], `seed ${seed}`);
  }
});
