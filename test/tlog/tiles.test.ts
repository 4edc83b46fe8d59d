import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { test } from 'tap';
import { parseNote } from '../../src/tlog/signed_note.js';
import {
  bundleOf,
  nodesFromTiles,
  parseTilePath,
  readBundle,
  type Tile,
  tilePath,
  tilesBetween,
  tilesOfNodes,
  writeBundle,
} from '../../src/tlog/tiles.js';
import { TlogError } from '../../src/tlog/tlog_error.js';
import { parseCheckpoint } from '../../src/tlog/tree_checkpoint.js';
import { leafHash } from '../../src/tlog/tree_hash.js';
import {
  consistencyProof,
  inclusionPath,
  nodesOfConsistency,
  nodesOfInclusion,
  nodesOfRoot,
  treeRoot,
} from '../../src/tlog/tree_nodes.js';
import { isConsistent, isIncluded } from '../../src/tlog/tree_proofs.js';
import { holds } from '../holds.js';
import { cases } from '../tier.js';
import { numberedEntries, TESSERA_ENTRIES, TLOG_VECTORS } from './small_log.js';
import { tileBytes } from './tile_bytes.js';

const skip = existsSync(join(TLOG_VECTORS, 'checkpoint')) ? false : 'the recorded data is not here';

const paths = (tiles: readonly Tile[]) => tiles.map(tilePath);

test('paths of tiles', async (t) => {
  for (const [index, path] of [
    [0n, '000'],
    [255n, '255'],
    [1234067n, 'x001/x234/067'],
    [123456789n, 'x123/x456/789'],
  ] as const) {
    t.equal(tilePath({ level: 2, index, width: 256 }), `tile/2/${path}`);
    t.equal(tilePath({ level: 'entries', index, width: 7 }), `tile/entries/${path}.p/7`);
    t.same(parseTilePath(`tile/2/${path}`), { level: 2, index, width: 256 });
    t.same(parseTilePath(`tile/entries/${path}.p/7`), { level: 'entries', index, width: 7 });
  }
  for (const path of [
    '',
    'tile/0/0',
    'tile/0/1000',
    'tile/0/x000/001',
    'tile/0/000.p/0',
    'tile/0/000.p/256',
    'tile/8/000',
    'tile/00/000',
    'tile/0/x001/x000',
    'tile/0/../000',
    `tile/0/${'x999/'.repeat(6)}999`,
  ])
    t.equal(parseTilePath(path), undefined, path);
});

test('the tiles of a size', async (t) => {
  t.same(paths(tilesBetween(0n, 256n)), ['tile/entries/000', 'tile/0/000', 'tile/1/000.p/1']);
  t.same(paths(tilesBetween(256n, 257n)), ['tile/entries/001.p/1', 'tile/0/001.p/1']);
  t.same(tilesBetween(257n, 257n), []);
  t.equal(tilePath(bundleOf(69_999n, 70_000n)), 'tile/entries/273.p/112');
});

test('roots and proofs are made of tiles, at most two a level', async (t) => {
  const leaves = numberedEntries(70_000).map((entry) => leafHash(entry));
  const bytesOf = tileBytes(leaves);
  const readFrom = (size: number) => {
    const read = new Set<string>();
    const nodes = nodesFromTiles(BigInt(size), (tile) => {
      read.add(tilePath(tile));
      return bytesOf(tile);
    });
    return { nodes, read };
  };
  const sizes = fc.tuple(fc.integer({ min: 1, max: 70_000 }), fc.nat(70_000), fc.nat(70_000));
  holds(
    t,
    fc.property(sizes, ([size, a, b]) => {
      const [n, index, older] = [BigInt(size), BigInt(a % size), BigInt(b % (size + 1))];
      const { nodes, read } = readFrom(size);
      const head = { size: n, root: treeRoot(n, nodes) };
      assert.deepEqual([...read].sort(), paths(tilesOfNodes(nodesOfRoot(n), n)).sort());
      read.clear();
      const path = inclusionPath(index, n, nodes);
      assert.ok(isIncluded(leaves[Number(index)]!, { index, size: n, path }, head.root));
      assert.deepEqual([...read].sort(), paths(tilesOfNodes(nodesOfInclusion(index, n), n)).sort());
      for (const level of [0, 1, 2])
        assert.ok([...read].filter((one) => one.startsWith(`tile/${level}/`)).length <= 2);
      read.clear();
      const proof = consistencyProof(older, n, nodes);
      assert.deepEqual([...read].sort(), paths(tilesOfNodes(nodesOfConsistency(older, n), n)).sort());
      const start = { size: older, root: treeRoot(older, readFrom(Number(older)).nodes) };
      assert.ok(isConsistent(start, head, proof));
    }),
    { numRuns: cases(60) },
  );
});

test('a tile of another length is refused', async (t) => {
  const nodes = nodesFromTiles(5n, () => new Uint8Array(4 * 32));
  t.throws(() => treeRoot(5n, nodes), {
    name: 'TlogError',
    message: 'tile/0/000.p/5 has 128 bytes instead of 160',
  });
  t.throws(() => nodes({ level: 0, index: 5n }), TlogError);
});

test('bundles of entries', async (t) => {
  const three = writeBundle(TESSERA_ENTRIES.slice(0, 3));
  t.equal(Buffer.from(three).toString('hex'), '00036f6e65000374776f00057468726565');
  t.same(readBundle(three, 3).map(String), TESSERA_ENTRIES.slice(0, 3).map(String));
  const long = new Uint8Array(65_535).fill(7);
  t.same(readBundle(writeBundle([long, new Uint8Array()]), 2), [long, new Uint8Array()]);
  t.throws(() => writeBundle([new Uint8Array(65_536)]), RangeError);
  for (const width of [2, 4]) t.throws(() => readBundle(three, width), TlogError);
  t.throws(() => readBundle(three.subarray(0, -1), 3), TlogError);
});

test('the files of a small real log', { skip }, async (t) => {
  const bytes = (path: string) => new Uint8Array(readFileSync(join(TLOG_VECTORS, path)));
  const checkpoint = (size: number) => parseCheckpoint(parseNote(bytes(`checkpoint.${size}`)).text);
  const faults: string[] = [];
  for (let size = 1; size <= 15; size += 1) {
    const n = BigInt(size);
    const entries = readBundle(bytes(tilePath(bundleOf(0n, n))), size);
    const nodes = nodesFromTiles(n, (tile) => bytes(tilePath(tile)));
    const { root } = checkpoint(size);
    if (Buffer.compare(treeRoot(n, nodes), root) !== 0) faults.push(`the root of ${size}`);
    if (String(entries) !== String(TESSERA_ENTRIES.slice(0, size))) faults.push(`the entries of ${size}`);
    for (let m = 0; m < size; m += 1) {
      const index = BigInt(m);
      const path = inclusionPath(index, n, nodes);
      if (!isIncluded(leafHash(entries[m]!), { index, size: n, path }, root)) faults.push(`${m} in ${size}`);
      const proof = consistencyProof(index, n, nodes);
      if (!isConsistent(checkpoint(m), { size: n, root }, proof)) faults.push(`${m} to ${size}`);
    }
  }
  t.same(faults, []);
});
