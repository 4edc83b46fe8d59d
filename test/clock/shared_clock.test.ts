import { test } from 'tap';
import { clockOfThread, SharedClock } from '../../src/clock/shared_clock.js';
import { type Clock, NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';

/** Returns a clock that a test moves against the machine's clock, and the clock of another thread in shared memory. */
function newClocks() {
  const own = { aheadNs: 0n, jumpNs: 0n };
  const clock: Clock = {
    nowNs: () => (process.hrtime.bigint() + own.aheadNs) as TimeNs,
    get jumpNs() {
      return own.jumpNs;
    },
  };
  const shared = new SharedClock(clock);
  const other = clockOfThread(shared.memory);
  const move = (byNs: bigint) => {
    own.aheadNs += byNs;
    shared.tick(clock.nowNs());
  };
  return { own, clock, shared, other, move };
}

test('another thread reads the same time', async (t) => {
  const { clock, other } = newClocks();
  const before = clock.nowNs();
  const between = other.nowNs();
  const after = clock.nowNs();
  // The offset was read a moment after the time, so the bounds allow a small difference.
  const slackNs = NS_PER_SECOND / 2n;
  t.ok(between > before - slackNs && between < after + slackNs);
});

test('its time stands still while the clock is corrected back, and never goes back', async (t) => {
  const { other, move } = newClocks();
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
