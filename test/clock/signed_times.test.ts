import { test } from 'tap';
import { openAggregateTimes } from '../../src/clock/signed_times.js';
import { NS_PER_SECOND, secondOf, type TimeNs } from '../../src/model/time.js';
import { FakeClock } from './fake_clock.js';

const HOUR_NS = 3_600n * NS_PER_SECOND;

test('a folder with a mark begins right past it, and one of a version without marks well past its newest second', async (t) => {
  const clock = new FakeClock();
  const newestSecond = Number(secondOf(clock.nowNs()));
  const first = async (mark?: TimeNs) => {
    const marks = {
      read: () => mark,
      write: (_kind: string, _number: number, _timeNs: TimeNs, onSettled: (isOnDisk: boolean) => void) =>
        onSettled(true),
    };
    return (await openAggregateTimes(clock, marks, newestSecond)).next()!;
  };
  const mark = (clock.nowNs() + NS_PER_SECOND) as TimeNs;
  t.equal(await first(mark), mark + 1n);
  clock.advance(-HOUR_NS);
  const endNs = BigInt(newestSecond + 1) * NS_PER_SECOND;
  t.ok((await first()) > endNs + NS_PER_SECOND);
  t.ok((await first((clock.nowNs() - HOUR_NS) as TimeNs)) > endNs + NS_PER_SECOND, 'nor had it for long');
});
