import { pause } from '../../scripts/load/wait.js';
import type { Scale } from './row.js';

/** The CPU time for which one stage is repeated, in seconds. */
const STAGE_SECONDS: Readonly<Record<Scale, number>> = { full: 0.4, smoke: 0.005 };
/** The uncounted CPU time before the measurement, in seconds, in which V8 compiles the code. */
const WARM_UP_SECONDS: Readonly<Record<Scale, number>> = { full: 0.5, smoke: 0.001 };
/** The time between two reads of the clock. Each read takes a microsecond. */
const BETWEEN_LOOKS_SECONDS = 0.000_5;

/**
 * Repeats `run` in a plain loop, as the peers in other languages do.
 * @param usedSeconds returns the used CPU time. By default, it is the process's, which includes garbage collection on other threads.
 * Wall time would include the work of other processes
 * @returns calls per second of CPU time
 */
export function callsPerCpuSecond(scale: Scale, run: () => void, usedSeconds = cpuSeconds): number {
  repeat(run, WARM_UP_SECONDS[scale], usedSeconds);
  const { calls, seconds } = repeat(run, STAGE_SECONDS[scale], usedSeconds);
  return calls / seconds;
}

/**
 * Calls `run` a number of times at an interval, and waits between the intervals. So the result includes the cost of a core that
 * is slow after idle time. The first second does not count.
 * @param seconds the time of the measurement
 * @returns calls per second of CPU time, without the CPU time of the timers
 */
export async function pacedCallsPerCpuSecond(
  { calls, everyMs, seconds }: { calls: number; everyMs: number; seconds: number },
  run: () => void,
): Promise<number> {
  const startMs = performance.now();
  const warmTurns = Math.ceil(1_000 / everyMs);
  const turns = warmTurns + Math.ceil((seconds * 1_000) / everyMs);
  let usedSeconds = 0;
  for (let turn = 0; turn < turns; turn++) {
    await pause(startMs + turn * everyMs - performance.now());
    const start = cpuSeconds();
    for (let i = 0; i < calls; i++) run();
    if (turn >= warmTurns) usedSeconds += cpuSeconds() - start;
  }
  return ((turns - warmTurns) * calls) / usedSeconds;
}

function repeat(
  run: () => void,
  secondsMin: number,
  usedSeconds: () => number,
): { calls: number; seconds: number } {
  const start = usedSeconds();
  let calls = 0;
  let seconds = 0;
  let callsBetweenLooks = 1;
  while (seconds < secondsMin) {
    for (let i = 0; i < callsBetweenLooks; i++) run();
    calls += callsBetweenLooks;
    const now = usedSeconds() - start;
    if (now - seconds < BETWEEN_LOOKS_SECONDS) callsBetweenLooks *= 2;
    seconds = now;
  }
  return { calls, seconds };
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
