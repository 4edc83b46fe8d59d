import type { Test } from 'tap';
import { SourceRun, type SourceRunOptions } from '../../../src/sources/markets/source_run.js';
import { planOf } from '../plans.js';
import type { ManualTime } from './manual_time.js';

/**
 * Makes a run of the sources of a file on a clock and timers that the test advances. The run is not open yet, and ends with the test.
 * @param text the file
 * @param more other options
 */
export function manualRun(t: Test, text: string, time: ManualTime, more: Partial<SourceRunOptions> = {}) {
  const warnings: string[] = [];
  const run = new SourceRun({
    plan: planOf(text),
    clock: time,
    schedule: time.schedule,
    random: () => 0.5,
    env: {},
    write: () => {},
    warn: (warning) => warnings.push(warning),
    ...more,
  });
  t.teardown(() => run.close());
  return { run, warnings };
}
