import fc from 'fast-check';
import { test } from 'tap';
import type { AssetIndex } from '../../src/model/asset.js';
import { assetSetOf, isSameSet, NO_ASSETS, withAssets, withoutAssets } from '../../src/stream/asset_set.js';
import { Harness } from './harness.js';

/** The IDs, whose order differs from the order of the indexes. */
const IDS = Array.from({ length: 40 }, (_, index) => (index * 17) % 41);
const indexes = fc.uniqueArray(fc.nat({ max: IDS.length - 1 })) as fc.Arbitrary<AssetIndex[]>;
const byId = (a: number, b: number) => IDS[a]! - IDS[b]!;

test('whatever is added and removed, the set is that of its members, ascending by ID', (t) => {
  const step = fc.record({ adds: fc.boolean(), assets: indexes });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      let set = NO_ASSETS;
      const members = new Set<AssetIndex>();
      for (const { adds, assets } of steps) {
        const before = set;
        const changed = assets.filter((asset) => members.has(asset) !== adds);
        if (adds) {
          const result = withAssets(set, assets, IDS);
          set = result.set;
          if (result.added.join() !== [...changed].sort(byId).join()) return false;
        } else {
          set = withoutAssets(set, assets, IDS);
        }
        for (const asset of assets) adds ? members.add(asset) : members.delete(asset);
        if ((set === before) !== (changed.length === 0)) return false;
        if (set.assets.join() !== [...members].sort(byId).join()) return false;
        if (!isSameSet(set, assetSetOf([...members], IDS))) return false;
      }
      return true;
    }),
  );
  t.end();
});

test('sets with other members are told apart, also when they have one hash', async (t) => {
  const [one, other] = [[0, 1, 2] as AssetIndex[], [0, 1, 3] as AssetIndex[]].map((assets) =>
    assetSetOf(assets, IDS),
  );
  t.not(one!.hash, other!.hash);
  t.notOk(isSameSet(one!, { ...other!, hash: one!.hash }));
  t.notOk(isSameSet(one!, { assets: [0 as AssetIndex], hash: one!.hash }));
});

test('no two sets of two of a thousand assets have one hash', async (t) => {
  const ids = Array.from({ length: 1_000 }, (_, id) => id);
  const hashes = new Set<number>();
  for (let a = 0; a < ids.length; a++)
    for (let b = a + 1; b < ids.length; b++) hashes.add(assetSetOf([a, b] as AssetIndex[], ids).hash);
  t.ok(hashes.size > 499_500 - 100, `${hashes.size} of 499,500`);
});

test('connections whose sets have one hash are in groups of their own', async (t) => {
  const ids = Array.from({ length: 1_000 }, (_, id) => id);
  const [one, other] = setsWithOneHash(ids);
  const harness = new Harness({ ids });
  const clients = [one, other].map((assets) => {
    const client = harness.connect();
    client.subscribe(...assets);
    return client;
  });
  for (const id of [...one, ...other]) harness.price(id, BigInt(id));
  harness.endTurn();
  t.same(
    clients.map((client) => client.news()),
    [one, other].map((assets) => [assets.map((id) => `${id}=${id}`).join(' ')]),
  );
  clients[0]!.unsubscribe(...one);
  t.same(clients[1]!.session.assets, other);
});

function setsWithOneHash(ids: readonly number[]): [one: AssetIndex[], other: AssetIndex[]] {
  const byHash = new Map<number, AssetIndex[]>();
  for (let a = 0; a < ids.length; a++)
    for (let b = a + 1; b < ids.length; b++) {
      const set = [a, b] as AssetIndex[];
      const { hash } = assetSetOf(set, ids);
      const known = byHash.get(hash);
      if (known !== undefined) return [known, set];
      byHash.set(hash, set);
    }
  throw new Error('no two sets have one hash');
}
