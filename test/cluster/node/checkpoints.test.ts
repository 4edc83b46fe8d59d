import { test } from 'tap';
import { Checkpoints } from '../../../src/cluster/node/checkpoints.js';
import { CHECKPOINT_S } from '../../../src/model/node_list.js';
import { NS_PER_SECOND, type TimeNs } from '../../../src/model/time.js';

const START_S = 1_700_000_000;
const timeOf = (second: number) => (BigInt(second) * NS_PER_SECOND) as TimeNs;

function checkpointsOf(assetCount: number) {
  const state = { assetCount, written: [] as string[] };
  const checkpoints = new Checkpoints<number>(
    {
      assets: () => Array.from({ length: state.assetCount }, (_, index) => index),
      putAgain: (asset, beforeNs) => state.written.push(`${asset} before ${beforeNs / NS_PER_SECOND}`),
    },
    timeOf(START_S),
  );
  return {
    state,
    /** Returns the assets whose inputs are written again in this second. */
    at(second: number): string[] {
      checkpoints.tick(timeOf(second));
      return state.written.splice(0);
    },
  };
}

test('each asset has its second of a round', async (t) => {
  const { at } = checkpointsOf(2 * CHECKPOINT_S + 1);
  const counts = new Set<number>();
  const assets: string[] = [];
  for (let second = START_S + 1; second <= START_S + CHECKPOINT_S; second++) {
    const written = at(second);
    counts.add(written.length);
    for (const one of written) {
      const [asset, beforeS] = one.split(' before ');
      assets.push(asset!);
      if (beforeS !== String(second - CHECKPOINT_S)) t.fail(`${one} at ${second}`);
    }
    if (at(second).length > 0) t.fail(`twice at ${second}`);
  }
  t.same([...counts].sort(), [2, 3], 'a few at a time');
  t.equal(new Set(assets).size, 2 * CHECKPOINT_S + 1);
  t.equal(assets.length, 2 * CHECKPOINT_S + 1);
});

test('a clock that is stepped, and assets that come', async (t) => {
  const { at, state } = checkpointsOf(3);
  const roundS = START_S - (START_S % CHECKPOINT_S) + 10 * CHECKPOINT_S;
  t.same(at(roundS + 2).length, 3, 'a pause of many rounds: each once');
  t.same(at(roundS + CHECKPOINT_S).length, 1);
  t.same(at(START_S), [], 'back');
  state.assetCount = 4;
  t.same(at(roundS + 3).length, 4, 'and forward');
});
