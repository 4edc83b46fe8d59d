import { test } from 'tap';
import { DueTick } from '../../src/clock/due_tick.js';
import type { TimeNs } from '../../src/model/time.js';

test('a tick runs once in each interval, at its multiples, whoever calls', async (t) => {
  const ticks: bigint[] = [];
  const dueTick = new DueTick(10n, (nowNs) => ticks.push(nowNs));
  dueTick.runIfDue(1_003n as TimeNs);
  dueTick.runIfDue(1_009n as TimeNs);
  t.same(ticks, [1_003n], 'the second came within the interval');
  dueTick.runIfDue(1_010n as TimeNs);
  t.same(ticks, [1_003n, 1_010n], 'the next multiple of the interval');
  dueTick.run(1_011n as TimeNs);
  t.same(ticks.at(-1), 1_011n, 'one that is run is not asked whether it is due');
  dueTick.runIfDue(1_019n as TimeNs);
  dueTick.runIfDue(1_045n as TimeNs);
  t.same(ticks, [1_003n, 1_010n, 1_011n, 1_045n], 'intervals that passed meanwhile are one tick');
});
