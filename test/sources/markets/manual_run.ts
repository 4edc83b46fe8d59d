import type { Test } from 'tap';
import { SourceRun, type SourceRunOptions } from '../../../src/sources/markets/source_run.js';
import { planOf } from '../plans.js';
import type { ManualTime } from './manual_time.js';

/** A run that is not open yet, and what it has warned of. */
export interface ManualRun {
  readonly run: SourceRun;
  readonly warnings: string[];
}

/**
 * Makes a run of the sources of a file on a clock and timers that the test advances. The run ends with the test.
 * @param text the file
 * @param more other options
 */
export function manualRun(
  t: Test,
  text: string,
  time: ManualTime,
  more: Partial<SourceRunOptions> = {},
): ManualRun {
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
