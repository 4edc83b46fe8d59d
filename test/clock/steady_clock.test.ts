import { test } from 'tap';
import { steadyClock } from '../../src/clock/steady_clock.js';

const SECOND = 1_000_000_000n;

/** A machine with a wall clock, a monotonic clock and an uptime that a test sets. */
function machine() {
  const state = { wallMs: 1_786_613_000_000, monotonicNs: 5_000n * SECOND, uptimeS: 9_000 };
  const clock = steadyClock({
    wallMs: () => state.wallMs,
    monotonicNs: () => state.monotonicNs,
    uptimeS: () => state.uptimeS,
  });
  const start = clock.nowNs();
  const pass = (seconds: number) => {
    state.monotonicNs += BigInt(seconds * 1_000) * 1_000_000n;
    state.uptimeS += seconds;
  };
  return { state, pass, passed: () => Number(clock.nowNs() - start) / 1e9, start };
}

test('the clock begins at the wall clock and follows none of its steps', async (t) => {
  const { state, pass, passed, start } = machine();
  t.equal(start, 1_786_613_000_000_000_000n);
  for (const stepMs of [-3_600_000, 86_400_000, 1]) {
    const before = passed();
    state.wallMs += stepMs;
    t.equal(passed(), before);
    pass(1.5);
    t.equal(passed(), before + 1.5);
  }
});

test('a suspension of the machine is time that has passed', async (t) => {
  const { state, pass, passed } = machine();
  pass(10);
  t.equal(passed(), 10);
  state.uptimeS += 3_600;
  pass(0.25);
  t.equal(passed(), 3_610.25);
  state.uptimeS += 0.01;
  pass(1);
  t.equal(passed(), 3_611.25, 'the uptime is not exact');
});
