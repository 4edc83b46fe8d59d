import { PacedTurns } from '../../model/paced_turns.js';

/** Opens turns whose rests follow the work of this thread's event loop. */
export function openLoopTurns(): PacedTurns {
  return new PacedTurns(loopWorkedMs, afterMs);
}

/**
 * Returns the time of the event loop without its waits, in ms. A piece of work that waits for a disk takes nothing from other work, so
 * its waits count nothing.
 */
export function loopWorkedMs(): number {
  return performance.eventLoopUtilization().active;
}

function afterMs(callback: () => void, ms: number): void {
  if (ms === 0) setImmediate(callback);
  else setTimeout(callback, ms);
}
