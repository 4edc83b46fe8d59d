import { test } from 'tap';
import { steadyClock } from '../../src/clock/steady_clock.js';

const SECOND = 1_000_000_000n;

test('the clock begins at the wall clock, follows none of its steps, and counts a suspension of the machine', async (t) => {
  const state = { wallMs: 1_786_613_000_000, monotonicNs: 5_000n * SECOND, uptimeS: 9_000 };
  const clock = steadyClock({
    wallMs: () => state.wallMs,
    monotonicNs: () => state.monotonicNs,
    uptimeS: () => state.uptimeS,
  });
  const start = clock.nowNs();
  t.equal(start, 1_786_613_000_000_000_000n);
  const passed = () => Number(clock.nowNs() - start) / 1e9;
  for (const [stepMs, suspendedS, passedS] of [
    [-3_600_000, 0, 1.5],
    [86_400_000, 3_600, 3_603],
    // The uptime is not exact.
    [1, 0.01, 3_604.5],
  ] as const) {
    state.wallMs += stepMs;
    state.monotonicNs += (3n * SECOND) / 2n;
    state.uptimeS += 1.5 + suspendedS;
    t.equal(passed(), passedS);
  }
});
