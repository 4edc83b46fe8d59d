import { test } from 'tap';
import { IdMapping } from '../../../src/cluster/ticks/id_mapping.js';
import { answerNames, decodeNames, encodeNamesQuery, nextIdAfter } from '../../../src/cluster/ticks/names.js';
import { CLUSTER_ASSETS_MAX } from '../../../src/model/node_list.js';
import type { MappedAsset } from '../../../src/wire/taxonomy_statement.js';

test('all names of a cluster come in a few messages that servers take', async (t) => {
  const assets = Array.from(
    { length: CLUSTER_ASSETS_MAX },
    (_, id): MappedAsset => ({ id, symbol: `${'é'.repeat(30)}${id}`, signatureType: 'stark' }),
  );
  const read: MappedAsset[] = [];
  for (let firstId: number | undefined = 0, pages = 0; firstId !== undefined; pages++) {
    const bytes = answerNames(encodeNamesQuery(firstId), { assets, taxonomyId: 7 });
    t.ok(bytes.length < 512 * 1024 && pages < 100);
    const next = decodeNames(bytes)!;
    read.push(...next.assets);
    firstId = nextIdAfter(next);
  }
  t.equal(new IdMapping(read).hash, new IdMapping(assets).hash);
});

test('a hash covers all IDs with their symbols and signature types, in any order', async (t) => {
  const one = { id: 1, symbol: 'A', signatureType: 'evm' } as const;
  const two = { id: 2, symbol: 'A', signatureType: 'stark' } as const;
  const hashOf = (...assets: MappedAsset[]) => new IdMapping(assets).hash;
  const hash = hashOf(one, two);
  t.equal(hashOf(two, one), hash);
  t.not(hashOf(one), hash);
  t.not(hashOf({ ...one, id: 2 }, { ...two, id: 1 }), hash);
  t.not(hashOf(one, { ...two, symbol: 'B' }), hash);
  t.not(hashOf({ ...one, signatureType: 'stark' }, { ...two, signatureType: 'evm' }), hash);
});
