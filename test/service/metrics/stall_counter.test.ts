import { test } from 'tap';
import { createCounters } from '../../../src/model/counters.js';
import { NS_PER_MS, type TimeNs } from '../../../src/model/time.js';
import { StallCounter } from '../../../src/service/metrics/stall_counter.js';

test('a tick that comes more than half a second late is counted once', async (t) => {
  const counters = createCounters();
  const stalls = new StallCounter(counters);
  const tickAt = (ms: bigint) => stalls.tick((ms * NS_PER_MS) as TimeNs);
  for (const ms of [5_000n, 5_250n, 6_000n, 6_001n, 5_500n]) tickAt(ms);
  t.equal(counters.eventLoopStalls, 0, 'in time, or after a step back');
  tickAt(6_251n);
  t.equal(counters.eventLoopStalls, 1);
  tickAt(6_500n);
  t.equal(counters.eventLoopStalls, 1);
});
