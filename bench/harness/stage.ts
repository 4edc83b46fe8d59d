import Benchmark from 'benchmark';
import type { Scale } from './row.js';

/** How long Benchmark.js repeats one stage, in seconds. */
const STAGE_SECONDS: Readonly<Record<Scale, number>> = { full: 0.25, smoke: 0.005 };
/** How long it runs before, uncounted, so that V8 compiles the code. */
const WARM_UP_MS: Readonly<Record<Scale, number>> = { full: 150, smoke: 1 };

/**
 * Repeats `run` under Benchmark.js.
 * @returns calls per second of the process's CPU time, garbage collection included. Wall time would include the work of
 *   other processes.
 */
export function callsPerCpuSecond(name: string, scale: Scale, run: () => void): number {
  for (const endMs = performance.now() + WARM_UP_MS[scale]; performance.now() < endMs; ) run();
  let calls = 0;
  const counted = () => {
    calls++;
    run();
  };
  const benchmark = new Benchmark(name, counted, {
    maxTime: STAGE_SECONDS[scale],
    minTime: STAGE_SECONDS[scale] / 5,
    minSamples: scale === 'full' ? 5 : 1,
  });
  const before = process.cpuUsage();
  benchmark.run({ async: false });
  if (benchmark.error) throw benchmark.error;
  const { user, system } = process.cpuUsage(before);
  return calls / ((user + system) / 1e6);
}
