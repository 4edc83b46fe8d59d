import Benchmark from 'benchmark';
import type { Scale } from './row.js';

/** The time for which one stage is repeated, in seconds. */
const STAGE_SECONDS: Readonly<Record<Scale, number>> = { full: 0.4, smoke: 0.005 };
/** The uncounted time before the measurement, in seconds, in which V8 compiles the code. */
const WARM_UP_SECONDS: Readonly<Record<Scale, number>> = { full: 0.5, smoke: 0.001 };
/** The number of runs into which the package benchmark divides its time. */
const SAMPLES_MIN = 5;

/**
 * Repeats a function with the package benchmark.
 * @returns calls per second of the process's CPU time, which includes garbage collection on other threads. Wall time would include the work
 * of other processes
 */
export function callsPerCpuSecond(scale: Scale, run: () => void): number {
  repeat(run, WARM_UP_SECONDS[scale]);
  const start = cpuSeconds();
  const calls = repeat(run, STAGE_SECONDS[scale]);
  return calls / (cpuSeconds() - start);
}

/** @returns the number of calls */
function repeat(run: () => void, seconds: number): number {
  let calls = 0;
  const counted = () => {
    calls++;
    run();
  };
  const sample = { minTime: seconds / SAMPLES_MIN, minSamples: SAMPLES_MIN };
  const benchmark = new Benchmark(counted, { ...sample, maxTime: seconds }).run();
  if (benchmark.error !== undefined) throw benchmark.error;
  return calls;
}

/** Returns the CPU time that this process has used, in seconds. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
