import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { test } from 'tap';
import { IdMapping } from '../../../src/cluster/ticks/id_mapping.js';
import {
  answerNames,
  decodeNames,
  encodeNames,
  encodeNamesQuery,
  type NamesPage,
  nextIdAfter,
} from '../../../src/cluster/ticks/names.js';
import { CLUSTER_ASSETS_MAX } from '../../../src/model/node_list.js';
import { SIGNATURE_TYPES } from '../../../src/wire/signatures.js';
import type { MappedAsset } from '../../../src/wire/taxonomy_statement.js';
import { holds } from '../../holds.js';
import { damaged } from '../damaged.js';

const asset = fc.record(
  {
    id: fc.integer({ min: 0, max: 0xffff }),
    symbol: fc.string(),
    signatureType: fc.constantFrom(...SIGNATURE_TYPES),
  },
  { noNullPrototype: true },
);
const page = fc.record(
  { assets: fc.array(asset, { maxLength: 9 }), isLast: fc.boolean() },
  { noNullPrototype: true },
);

test('names are read as they were written', async (t) => {
  holds(
    t,
    fc.property(page, (written) => assert.deepEqual(decodeNames(encodeNames(written)), written)),
    {
      numRuns: 200,
    },
  );
});

test('damaged names are refused or read, and never do harm', async (t) => {
  holds(
    t,
    fc.property(page.map(encodeNames).chain(damaged), (hostile) => {
      const read = decodeNames(hostile);
      assert.ok(read === undefined || read.assets.length * 2 <= hostile.length);
    }),
    { numRuns: 2_000 },
  );
});

test('all names of a cluster come in a few messages that servers take', async (t) => {
  const assets = Array.from(
    { length: CLUSTER_ASSETS_MAX },
    (_, id): MappedAsset => ({ id, symbol: `${'é'.repeat(30)}${id}`, signatureType: 'stark' }),
  );
  const read: MappedAsset[] = [];
  for (let firstId: number | undefined = 0, pages = 0; firstId !== undefined; pages++) {
    const bytes = answerNames(encodeNamesQuery(firstId), { assets, taxonomyId: 7 });
    t.ok(bytes.length < 512 * 1024 && pages < 100);
    const next: NamesPage = decodeNames(bytes)!;
    read.push(...next.assets);
    firstId = nextIdAfter(next);
  }
  t.equal(new IdMapping(read).hash, new IdMapping(assets).hash);
});

test('a hash says what all IDs mean, whatever the order of the assets', async (t) => {
  const [one, two] = [
    { id: 1, symbol: 'A', signatureType: 'evm' },
    { id: 2, symbol: 'A', signatureType: 'stark' },
  ] as const;
  const { hash } = new IdMapping([one, two]);
  t.equal(new IdMapping([two, one]).hash, hash);
  const others: MappedAsset[][] = [
    [one],
    [
      { ...one, id: 2 },
      { ...two, id: 1 },
    ],
    [one, { ...two, symbol: 'B' }],
    [
      { ...one, signatureType: 'stark' },
      { ...two, signatureType: 'evm' },
    ],
  ];
  for (const assets of others) t.not(new IdMapping(assets).hash, hash);
});
