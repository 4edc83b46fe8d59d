import { test } from 'tap';
import { LostPayloads } from '../../../src/client/prices/lost_payloads.js';

/** Returns whether payloads before a payload were lost. The times are milliseconds of the service's clock. */
function newConnection(hasIntervals: boolean) {
  const losses = new LostPayloads(hasIntervals);
  return {
    lost: () => losses.lost(),
    dropped: () => losses.dropped(),
    passed: (madeMs: number, nowMs: number) => losses.passed(BigInt(madeMs) * 1_000_000n, nowMs),
  };
}

test('a loss of the client is reported once, with the next payload', async (t) => {
  for (const hasIntervals of [false, true]) {
    const { lost, passed } = newConnection(hasIntervals);
    t.equal(passed(100, 101), false, 'the first payload follows nothing');
    lost();
    lost();
    t.equal(passed(200, 201), true);
    t.equal(passed(300, 301), false);
  }
});

test('on a fixed channel the service may leave out ticks behind a late payload', async (t) => {
  const { passed } = newConnection(true);
  passed(100, 101);
  t.equal(passed(900, 901), false, 'the service sends nothing without a live price');
  t.equal(passed(1_000, 4_000), false, 'the late payload itself follows an earlier payload in time');
  t.equal(passed(3_900, 4_000), true);
  t.equal(passed(4_000, 4_001), true, 'made at the moment when the payload before it arrived');
  t.equal(passed(4_100, 4_101), false);
});

test('on real_time only the end of a long backlog is a sign of a slow reader', async (t) => {
  const { lost, dropped, passed } = newConnection(false);
  passed(100, 101);
  passed(200, 4_000);
  t.equal(passed(3_900, 4_000), false, 'late payloads alone are no loss');
  lost();
  t.equal(passed(4_200, 6_000), true);
  t.equal(passed(5_999, 6_001), false, 'nor is a backlog of which the client dropped nothing');
  dropped();
  t.equal(passed(6_200, 9_000), true);
  t.equal(passed(6_300, 9_001), false, 'the next one of the backlog');
  t.equal(passed(8_999, 9_002), true, 'the service made it after the backlog began to move');
  t.equal(passed(9_100, 9_101), false);
  t.equal(passed(9_200, 9_201), false);
  passed(9_300, 9_900);
  t.equal(passed(9_890, 9_901), false, 'the long backlog has ended');
});
