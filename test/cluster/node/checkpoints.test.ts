import { test } from 'tap';
import { Checkpoints } from '../../../src/cluster/node/checkpoints.js';
import { CHECKPOINT_S } from '../../../src/model/node_list.js';
import { NS_PER_SECOND, type TimeNs } from '../../../src/model/time.js';

test('each asset has its second of a round', async (t) => {
  const startS = 1_700_000_000;
  const timeOf = (second: number) => (BigInt(second) * NS_PER_SECOND) as TimeNs;
  const assets = Array.from({ length: 2 * CHECKPOINT_S + 1 }, (_, index) => index);
  const written: number[] = [];
  const checkpoints = new Checkpoints<number>(
    { assets: () => assets, putAgain: (asset) => written.push(asset) },
    timeOf(startS),
  );
  for (let second = startS + 1; second <= startS + CHECKPOINT_S; second++) checkpoints.tick(timeOf(second));
  t.same(
    written.toSorted((a, b) => a - b),
    assets,
  );
});
