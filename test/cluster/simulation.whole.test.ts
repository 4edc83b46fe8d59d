import { test } from 'tap';
import { withstands } from './simulation/withstands.js';

const SCHEDULES = { first: 1, last: 10_000 };

test('whatever fails, the log has one author at a time (seeds 1 to 10,000)', async (t) => {
  await withstands(t, SCHEDULES);
});
