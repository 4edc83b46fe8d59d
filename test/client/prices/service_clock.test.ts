import { test } from 'tap';
import { ServiceClock } from '../../../src/client/prices/service_clock.js';

const MADE_MS = 1_765_215_119_000;
const DAY_MS = 86_400_000;

/** The clocks of a machine, and frames of a service with a correct clock. */
class Machine {
  passedMs = 0;
  wallAheadMs = 0;
  readonly nowMs = () => MADE_MS + this.passedMs + this.wallAheadMs;
  readonly steadyMs = () => 5_000 + this.passedMs;
  readonly clock = new ServiceClock(this);

  /** Receives a frame that was made some time earlier. @returns its age in whole milliseconds */
  take(delayMs: number): number {
    const ageMs = this.clock.verified(BigInt(Math.round((MADE_MS + this.passedMs - delayMs) * 1e3)) * 1_000n);
    return Math.round(ageMs);
  }
}

test('an age is counted from the frame that came soonest, whatever the wall clock says', async (t) => {
  const machine = new Machine();
  machine.wallAheadMs = -DAY_MS;
  t.equal(machine.take(30), 0);
  t.equal(machine.take(10), 0);
  t.equal(machine.take(40), 30);
  machine.passedMs = 700;
  t.equal(machine.take(1_010), 1_000);
  machine.wallAheadMs = DAY_MS;
  t.equal(Math.round(machine.clock.nowMs() - MADE_MS), 690);
});
