import type { Schedule } from '../../src/client/connect/liveness.js';

/** Timers that run only when the test calls {@link run}. */
export class FakeSchedule {
  readonly pending: { readonly run: () => void; readonly delayMs: number }[] = [];

  readonly schedule: Schedule = (run, delayMs) => {
    const timer = { run, delayMs };
    this.pending.push(timer);
    return () => {
      const at = this.pending.indexOf(timer);
      if (at >= 0) this.pending.splice(at, 1);
    };
  };

  /** Runs the timer that waits for `delayMs`. */
  run(delayMs: number): void {
    const at = this.pending.findIndex((timer) => timer.delayMs === delayMs);
    if (at < 0) throw new RangeError(`no timer waits for ${delayMs} ms`);
    const [timer] = this.pending.splice(at, 1);
    timer!.run();
  }

  /** Runs the only waiting timer. @returns its delay */
  runOnly(): number {
    if (this.pending.length !== 1) throw new RangeError(`${this.pending.length} timers wait`);
    const [timer] = this.pending.splice(0);
    timer!.run();
    return timer!.delayMs;
  }
}
