import { test } from 'tap';
import { withstands } from './simulation/withstands.js';

const SCHEDULES = { first: 1, last: 1_500 };
const THREADS = 2;
const TIMEOUT_MS = 600_000;

test('whatever fails, the log has one author at a time (seeds 1 to 1,500)', {
  timeout: TIMEOUT_MS,
}, async (t) => {
  await withstands(t, SCHEDULES, THREADS);
});
