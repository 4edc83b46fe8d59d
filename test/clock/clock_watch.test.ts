import { test } from 'tap';
import { AggregateTimes } from '../../src/clock/aggregate_times.js';
import {
  aggregateTroubles,
  ClockWatch,
  clockJumpSeconds,
  streamTroubles,
} from '../../src/clock/clock_watch.js';
import { StreamTimes } from '../../src/clock/stream_times.js';
import { NS_PER_SECOND } from '../../src/model/time.js';
import { FakeClock } from './fake_clock.js';
import { MemoryMarks } from './memory_marks.js';

/** The interval between checks. */
const LOOK_NS = 100_000_000n;
const HOUR_NS = 3_600n * NS_PER_SECOND;

class JumpingClock extends FakeClock {
  jumpNs = 0n;
}

function start() {
  const clock = new JumpingClock();
  const marks = new MemoryMarks();
  const aggregates = new AggregateTimes(clock, marks.placeOf('aggregates'), 0n);
  const streams = new StreamTimes({ clock, node: 0, thread: 0, placeOf: marks.placeOf });
  const log: string[] = [];
  const note = (line: unknown) => void log.push(String(line));
  const troubles = [...aggregateTroubles(clock, aggregates), ...streamTroubles(streams)];
  const watch = new ClockWatch({ clock, troubles, logger: { warn: note, info: note } });
  const lines = () => {
    streams.tick(clock.nowNs());
    watch.tick(clock.nowNs());
    clock.advance(LOOK_NS);
    return log.splice(0);
  };
  return { clock, marks, aggregates, streams, watch, lines };
}

test('while a jump is not believed: a line at its begin and one at its end, a reason and a figure', async (t) => {
  const { clock, watch, lines } = start();
  t.same(lines(), []);
  clock.jumpNs = HOUR_NS;
  const [begin, ...more] = lines();
  t.match(begin, /the wall clock jumped by 3600\.0 s; .*10 s/);
  t.same([more, lines()], [[], []]);
  t.same(watch.reasons(), [begin]);
  t.equal(clockJumpSeconds(clock), 3_600);
  clock.jumpNs = 0n;
  t.match(lines(), [/agree again/]);
  t.same(watch.reasons(), []);
  t.equal(clockJumpSeconds(clock), 0);
});

test('while signed times are ahead of the clock by more than a second', async (t) => {
  const { clock, aggregates, streams, watch, lines } = start();
  const era = streams.current();
  era.enter(0n);
  aggregates.next();
  era.nextSigned(clock.nowNs());
  clock.advance(-NS_PER_SECOND);
  t.same(lines(), []);
  clock.advance(-9n * NS_PER_SECOND - LOOK_NS);
  t.match(lines(), [/^aggregates are signed with times 10\.0 s ahead/, /^streams .* times 10\.0 s ahead/]);
  t.equal(watch.reasons().length, 2);
  era.leave();
  t.match(lines(), [/^all streams carry the time of the clock again/], 'its last connection is gone');
  clock.advance(9n * NS_PER_SECOND);
  t.match(lines(), [/^aggregates are signed with the time of the clock again/]);
  t.same(watch.reasons(), []);
});

test('while nothing is signed, because the marks cannot be written', async (t) => {
  const { clock, marks, aggregates, streams, watch, lines } = start();
  const era = streams.current();
  era.enter(0n);
  marks.isSlow = true;
  const sign = () => [aggregates.next(), era.nextSigned(clock.nowNs())];
  clock.advance(3n * NS_PER_SECOND);
  t.same(sign(), [undefined, undefined]);
  t.same(lines(), []);
  clock.advance(2n * NS_PER_SECOND - 2n * LOOK_NS);
  t.match(lines(), [/^no aggregates are signed/, /^signed stream frames wait/]);
  t.equal(watch.reasons().length, 2);
  marks.isSlow = false;
  marks.settle();
  sign();
  t.notSame(sign(), [undefined, undefined]);
  t.match(lines(), [/^aggregates are signed again/, /^signed stream frames are sent again/]);
});
