import { eventually } from '../../../scripts/load/wait.js';
import type { Schedule } from '../../../src/client/connect/liveness.js';
import type { Clock, TimeNs } from '../../../src/model/time.js';
import { START } from '../plans.js';

interface ManualTimer {
  readonly dueMs: number;
  readonly run: () => void;
}

/** A clock and timers that advance only when a test advances them. */
export class ManualTime implements Clock {
  readonly #timers = new Set<ManualTimer>();
  #ms = 0;

  nowNs(): TimeNs {
    return (START + BigInt(Math.round(this.#ms * 1e6))) as TimeNs;
  }

  readonly schedule: Schedule = (run, delayMs) => {
    const timer = { dueMs: this.#ms + delayMs, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** Runs all timers that become due in that time, in order. */
  advance(ms: number): void {
    const endMs = this.#ms + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ dueMs }) => dueMs <= endMs);
      const first = due.reduce<ManualTimer | undefined>(
        (earliest, timer) => (earliest === undefined || timer.dueMs < earliest.dueMs ? timer : earliest),
        undefined,
      );
      if (first === undefined) break;
      this.#timers.delete(first);
      this.#ms = Math.max(this.#ms, first.dueMs);
      first.run();
    }
    this.#ms = endMs;
  }
}

/** Waits for work of other threads and sockets. */
export async function until(isSo: () => boolean, what: string): Promise<void> {
  await eventually(isSo, { what });
}
