import type { Scale } from './row.js';

/** The CPU time for which one stage is repeated, in seconds. */
const STAGE_SECONDS: Readonly<Record<Scale, number>> = { full: 0.4, smoke: 0.005 };
/** The uncounted CPU time before the measurement, in seconds, in which V8 compiles the code. */
const WARM_UP_SECONDS: Readonly<Record<Scale, number>> = { full: 0.5, smoke: 0.001 };
/** The time between two reads of the clock. Each read takes a microsecond. */
const BETWEEN_LOOKS_SECONDS = 0.000_5;

/**
 * Repeats `run` in a plain loop, as the peers in other languages do.
 * @returns calls per second of the process's CPU time, which includes garbage collection on other threads. Wall time would include the work
 * of other processes
 */
export function callsPerCpuSecond(scale: Scale, run: () => void): number {
  repeat(run, WARM_UP_SECONDS[scale]);
  const { calls, seconds } = repeat(run, STAGE_SECONDS[scale]);
  return calls / seconds;
}

function repeat(run: () => void, secondsMin: number): { calls: number; seconds: number } {
  const start = cpuSeconds();
  let calls = 0;
  let seconds = 0;
  let callsBetweenLooks = 1;
  while (seconds < secondsMin) {
    for (let i = 0; i < callsBetweenLooks; i++) run();
    calls += callsBetweenLooks;
    const now = cpuSeconds() - start;
    if (now - seconds < BETWEEN_LOOKS_SECONDS) callsBetweenLooks *= 2;
    seconds = now;
  }
  return { calls, seconds };
}

/** Returns the CPU time that this process has used, in seconds. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
