import { test } from 'tap';
import { perhapsCoarser, perhapsMilliseconds } from '../../src/model/likely_unit.js';

test('a time in another unit than the wanted one is asked about, and a time in that unit is not', async (t) => {
  const nowS = 1_795_763_284;
  t.match(perhapsMilliseconds(nowS * 1_000), /did you send milliseconds\?$/);
  t.equal(perhapsMilliseconds(nowS), '');
  const units = [
    ['seconds', 1n],
    ['milliseconds', 1_000n],
    ['microseconds', 1_000_000n],
  ] as const;
  for (const [unit, perSecond] of units)
    t.equal(perhapsCoarser(BigInt(nowS) * perSecond), `; it is in UNIX nanoseconds: did you send ${unit}?`);
  t.equal(perhapsCoarser(BigInt(nowS) * 1_000_000_000n), '');
  t.equal(perhapsCoarser(0n), '', 'the beginning of all times is no mistake');
});
