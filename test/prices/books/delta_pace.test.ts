import { test } from 'tap';
import type { AssetIndex } from '../../../src/model/asset.js';
import type { TimeNs } from '../../../src/model/time.js';
import { DeltaPace } from '../../../src/prices/books/delta_pace.js';
import { START_NS } from '../../model/sample.js';

const MS = 1_000_000n;
const at = (ms: bigint) => (START_NS + ms * MS) as TimeNs;
const [ONE, OTHER] = [0 as AssetIndex, 1 as AssetIndex];

test('an asset is signed for the allowance of a second at once, and then at its rate', async (t) => {
  const pace = new DeltaPace(20);
  let signed = 0;
  const move = (ms: bigint) => {
    if (!pace.admit(ONE, at(ms))) return false;
    pace.signed(ONE, at(ms));
    signed++;
    return true;
  };
  for (let i = 0; i < 50; i++) move(0n);
  t.equal(signed, 20);
  t.equal(pace.nextDueNs, at(50n));
  t.same(pace.takeDue(at(49n)), []);
  t.same(pace.takeDue(at(50n)), [ONE]);
  t.equal(pace.nextDueNs, undefined);
  for (let ms = 50n; ms < 10_050n; ms += 5n) move(ms);
  t.equal(signed, 20 + 200, 'ten seconds of moves each 5 ms');
  t.ok(pace.admit(OTHER, at(10_000n)), 'another asset has its own allowance');
  t.ok(move(12_000n));
  t.ok(move(-3_600_000n), 'an hour is no debt after the clock stepped back');
});
