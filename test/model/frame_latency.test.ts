import { test } from 'tap';
import { FrameLatency, newLatencyCounts } from '../../src/model/frame_latency.js';
import type { Histogram } from '../../src/model/text_format.js';
import { FakeClock } from '../clock/fake_clock.js';

const MS = 1_000_000n;

/** Returns the number of measurements, and their sum in milliseconds. */
function measured({ buckets, sumSeconds }: Histogram): { count: number; sumMs: number } {
  const count = buckets.reduce((sum, inBucket) => sum + inBucket, 0);
  return { count, sumMs: Math.round(sumSeconds * 1e6) / 1e3 };
}

test('a message is measured once, from its receipt to the first frame that has its prices', async (t) => {
  const clock = new FakeClock();
  const counts = newLatencyCounts();
  const latency = new FrameLatency(counts);
  latency.received(1, clock.nowNs());
  clock.advance(2n * MS);
  latency.sent(0, clock);
  t.same(measured(counts), { count: 0, sumMs: 0 }, 'a frame of what was before');
  clock.advance(MS);
  latency.sent(1, clock);
  t.same(measured(counts), { count: 1, sumMs: 3 });
  clock.advance(MS);
  latency.sent(2, clock);
  latency.received(1, clock.nowNs());
  latency.sent(2, clock);
  t.same(measured(counts), { count: 1, sumMs: 3 }, 'a message that changed no price has no frame');

  latency.received(3, clock.nowNs());
  clock.advance(MS);
  latency.received(5, clock.nowNs());
  latency.sent(4, clock);
  t.same(measured(counts), { count: 2, sumMs: 4 }, 'the second one waits');
  clock.advance(10n * MS);
  latency.sent(6, clock);
  t.same(measured(counts), { count: 3, sumMs: 14 });
});

test('a message that waited for the first stream, or during a clock set back, is not measured', async (t) => {
  const clock = new FakeClock();
  const counts = newLatencyCounts();
  const latency = new FrameLatency(counts);
  for (const [i, waitedNs] of [2_000n * MS, 2_000n * MS + 1n, -1n, 0n].entries()) {
    latency.received(i + 1, clock.nowNs());
    clock.advance(waitedNs);
    latency.sent(i + 1, clock);
  }
  t.same(measured(counts), { count: 2, sumMs: 2_000 });
});
