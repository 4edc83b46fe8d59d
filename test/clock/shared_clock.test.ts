import { test } from 'tap';
import { clockOfThread, SharedClock } from '../../src/clock/shared_clock.js';
import { NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';

test('the clock of another thread stands still while the clock is corrected back, and never goes back', async (t) => {
  const own = { aheadNs: 0n };
  const clock = { jumpNs: 0n, nowNs: () => (process.hrtime.bigint() + own.aheadNs) as TimeNs };
  const shared = new SharedClock(clock);
  const other = clockOfThread(shared.memory);
  const move = (byNs: bigint) => {
    own.aheadNs += byNs;
    shared.tick(clock.nowNs());
  };
  const differenceNs = other.nowNs() - clock.nowNs();
  // The offset was read a moment after the time.
  t.ok(differenceNs > -NS_PER_SECOND / 2n && differenceNs < NS_PER_SECOND / 2n, 'the same time');
  const before = other.nowNs();
  move(-NS_PER_SECOND / 2n);
  t.equal(other.nowNs(), before);
  t.equal(other.nowNs(), before);
  move(NS_PER_SECOND);
  const after = other.nowNs();
  t.ok(after > before);
  let last = after;
  for (let i = 0; i < 1_000; i++) {
    if (i % 10 === 0) move(i % 20 === 0 ? -1_000n : 900n);
    const now = other.nowNs();
    if (now < last) t.fail(`${now} is before ${last}`);
    last = now;
  }
});
