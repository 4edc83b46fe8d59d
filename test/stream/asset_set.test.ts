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

test('connections whose sets have one hash are in groups of their own', async (t) => {
  const ids = Array.from({ length: 1_000 }, (_, id) => id);
  const [one, other] = [[35, 919] as AssetIndex[], [52, 967] as AssetIndex[]];
  t.equal(assetSetOf(one, ids).hash, assetSetOf(other, ids).hash);
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
    [['35=35 919=919'], ['52=52 967=967']],
  );
  clients[0]!.unsubscribe(...one);
  t.same(clients[1]!.session.assets, other);
});
