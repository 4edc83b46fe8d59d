import { test } from 'tap';
import { openAggregateTimes, openStreamTimes } from '../../src/clock/signed_times.js';
import { NS_PER_SECOND, secondOf, type TimeNs } from '../../src/model/time.js';
import { FakeClock } from './fake_clock.js';

const HOUR_NS = 3_600n * NS_PER_SECOND;

async function open(clock: FakeClock, newestSecond: number | undefined, mark?: TimeNs) {
  const marks = {
    read: (kind: string) => (kind === 'aggregates' ? mark : undefined),
    write: (_kind: string, _number: number, _timeNs: TimeNs, onSettled: (isOnDisk: boolean) => void) =>
      onSettled(true),
  };
  return Promise.all([
    openAggregateTimes(clock, marks, newestSecond),
    openStreamTimes(clock, marks, { node: 0, thread: 0 }),
  ]).then(([aggregates, streams]) => ({ aggregates, streams }));
}

test('a new folder begins at the time of the clock', async (t) => {
  const clock = new FakeClock();
  const { aggregates, streams } = await open(clock, undefined);
  t.equal(aggregates.next(), clock.nowNs());
  t.ok(streams.current().nextSigned(clock.nowNs()));
});

test('a folder of a version without marks begins well past its newest second', async (t) => {
  const clock = new FakeClock();
  const newestSecond = Number(secondOf(clock.nowNs()));
  clock.advance(-HOUR_NS);
  const endNs = BigInt(newestSecond + 1) * NS_PER_SECOND;
  t.ok((await open(clock, newestSecond)).aggregates.next()! > endNs + NS_PER_SECOND);
  const older = (clock.nowNs() - HOUR_NS) as TimeNs;
  t.ok(
    (await open(clock, newestSecond, older)).aggregates.next()! > endNs + NS_PER_SECOND,
    'nor had it for long',
  );
});

test('a folder with a mark begins right past it', async (t) => {
  const clock = new FakeClock();
  const mark = (clock.nowNs() + NS_PER_SECOND) as TimeNs;
  const newestSecond = Number(secondOf(clock.nowNs()));
  t.equal((await open(clock, newestSecond, mark)).aggregates.next(), mark + 1n);
});
