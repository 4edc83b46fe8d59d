import { test } from 'tap';
import { systemClock } from '../../src/clock/clock.js';
import { PreciseTimer } from '../../src/clock/precise_timer.js';
import { NS_PER_MS, NS_PER_SECOND } from '../../src/model/time.js';

const clock = systemClock();
const HOUR_NS = 3_600n * NS_PER_SECOND;

/** Starts a timer. A test can wait for its calls. */
function startTimer() {
  let onTime = () => {};
  const timer = new PreciseTimer(clock, () => onTime());
  const next = () =>
    new Promise<bigint>((resolve) => {
      onTime = () => resolve(clock.nowNs());
    });
  return { timer, next };
}

test('it calls at the time that was set last, be it earlier or later than before', async (t) => {
  const { timer, next } = startTimer();
  t.teardown(() => timer.stop());
  let atNs = clock.nowNs() + HOUR_NS;
  for (const changeNs of [0n, -HOUR_NS + 5n * NS_PER_MS]) {
    atNs += changeNs;
    timer.at(atNs);
  }
  t.ok((await next()) >= atNs, 'earlier');
  timer.at(clock.nowNs() + 500n * NS_PER_MS);
  atNs = clock.nowNs() + 600n * NS_PER_MS;
  timer.at(atNs);
  t.ok((await next()) >= atNs, 'later');
});

test('a rough time is called once, and replaces and is replaced like the others', async (t) => {
  const { timer, next } = startTimer();
  t.teardown(() => timer.stop());
  // The replaced time is so far in the future that even a paused machine replaces it in time.
  timer.at(clock.nowNs() + 2n * NS_PER_SECOND);
  let atNs = clock.nowNs() + 20n * NS_PER_MS;
  timer.roughlyAt(atNs);
  const roughNs = await next();
  t.ok(roughNs >= atNs - NS_PER_MS, 'rough after precise');
  timer.roughlyAt(clock.nowNs() + NS_PER_SECOND);
  atNs = clock.nowNs() + 20n * NS_PER_MS;
  timer.at(atNs);
  t.ok((await next()) >= atNs, 'precise after rough');
  let calls = 0;
  void next().then(() => calls++);
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  t.equal(calls, 0, 'the replaced times do not call');
});
