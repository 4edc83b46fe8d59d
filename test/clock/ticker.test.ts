import { test } from 'tap';
import { type Ticked, Ticker } from '../../src/clock/ticker.js';
import { NS_PER_MS, NS_PER_SECOND, nextMultiple } from '../../src/model/time.js';
import { FakeClock } from './fake_clock.js';
import { FakeTickTimer } from './fake_tick_timer.js';

const MS = NS_PER_MS;
const START = 1_000_003n * MS;

/**
 * Starts a ticker with parts that are due at the given times. The ticker's time advances in steps smaller than any tick interval.
 */
function start(...dueNs: readonly ((nowNs: bigint) => bigint | undefined)[]) {
  const clock = new FakeClock(START);
  const ticker = new Ticker(clock);
  const ticksNs: bigint[] = [];
  const parts = dueNs.map((nextDueNs): Ticked => ({ tick: () => {}, nextDueNs }));
  let timer!: FakeTickTimer;
  ticker.start([{ tick: (nowNs) => ticksNs.push(nowNs - START) }, ...parts], (onTime) => {
    timer = new FakeTickTimer(clock, onTime);
    return timer;
  });
  const pass = (durationNs: bigint) => {
    for (let ns = 0n; ns < durationNs; ns += MS / 10n) {
      clock.advance(MS / 10n);
      timer.pass(MS / 10n);
    }
    return ticksNs.splice(0).map((ns) => Number(ns) / 1e6);
  };
  return { clock, ticker, timer, pass };
}

test('it ticks every 250 ms while nothing is due, and only a time at which a part is due needs the precise timer', async (t) => {
  t.same(start(() => undefined).pass(NS_PER_SECOND), [0, 250, 500, 750, 1_000]);
  let dueNs: bigint | undefined;
  const { timer, ticker, pass } = start(() => dueNs);
  t.ok(timer.isRough);
  ticker.noLaterThan(START + 100n * MS);
  t.notOk(timer.isRough);
  dueNs = START + 150n * MS;
  t.same(pass(101n * MS), [0, 100]);
  t.notOk(timer.isRough);
  dueNs = undefined;
  t.same(pass(50n * MS), [150]);
  t.ok(timer.isRough);
});

test('it ticks all parts at the earliest time that one of them is due', async (t) => {
  const { pass } = start(
    (nowNs) => nextMultiple(nowNs, 40n * MS),
    () => START + 47n * MS,
  );
  t.same(pass(50n * MS), [0, 37, 47, 48, 49, 50], 'one that stays due has 1 ms between its ticks');
});

test('it goes on when the clock is stepped back', async (t) => {
  const { clock, ticker, pass } = start((nowNs) => nextMultiple(nowNs, 10n * MS));
  pass(10n * MS);
  clock.advance(-3_600n * NS_PER_SECOND);
  t.equal(pass(100n * MS).length, 10);
  clock.advance(-3_600n * NS_PER_SECOND);
  ticker.runIfDue();
  t.equal(pass(0n).length, 1, 'also before a message');
});
