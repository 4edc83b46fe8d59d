import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { parseExactJson } from '../../src/client/verify/exact_json.js';
import { isEqual, toBase64 } from '../../src/tlog/log_text.js';
import { emptyRoot, leafHash, rootOf } from '../../src/tlog/tree_hash.js';
import { consistencyProof, inclusionPath, treeRoot } from '../../src/tlog/tree_nodes.js';
import { isConsistent, isIncluded, isInSubtree, isSubtreeOf } from '../../src/tlog/tree_proofs.js';
import { slowPath, slowProof, slowRoot } from './slow_tree.js';
import { nodesOfEntries, numberedEntries, TLOG_VECTORS } from './small_log.js';

type Numbers = 'leafIdx' | 'treeSize' | 'size1' | 'size2' | 'size' | 'start' | 'end';
type Hashes = 'root' | 'root1' | 'root2' | 'leafHash';

/** A case of transparency-dev/merkle. */
type MerkleCase = Readonly<Record<Numbers, bigint> & Record<Hashes, string>> & {
  readonly proof: readonly string[] | null;
  readonly wantErr: boolean;
};

const MERKLE = join(TLOG_VECTORS, 'merkle');
const skip = existsSync(MERKLE) ? false : 'the recorded data is not here';

/** All small trees, and the trees one leaf smaller or larger than a complete tree. */
const SIZES = [...Array.from({ length: 34 }, (_, n) => n + 1), 63, 64, 65, 66];

test('the proofs of every tree up to 34 entries, and of 63 to 66, are those of the definition, and no other size or place fits them', async (t) => {
  const entries = numberedEntries(66);
  const read = nodesOfEntries(entries);
  const faults: string[] = [];
  const must = (holds: boolean, what: string) => holds || faults.push(what);
  for (const size of SIZES) {
    const tree = entries.slice(0, size);
    const head = { size: BigInt(size), root: treeRoot(BigInt(size), read) };
    must(isEqual(head.root, slowRoot(tree)), `root of ${size}`);
    must(isEqual(head.root, rootOf(tree.map((entry) => leafHash(entry)))), `root of all leaves of ${size}`);
    for (let m = 0; m < size; m += 1) {
      const name = `${m} in ${size}`;
      const path = inclusionPath(BigInt(m), head.size, read);
      must(toBase64(Buffer.concat(path)) === toBase64(Buffer.concat(slowPath(m, tree))), `path of ${name}`);
      const leaf = leafHash(tree[m]!);
      must(isIncluded(leaf, { index: BigInt(m), size: head.size, path }, head.root), name);
      must(
        !isIncluded(leaf, { index: BigInt(m + 1), size: head.size, path }, head.root),
        `${name}, next place`,
      );
      const proof = consistencyProof(BigInt(m), head.size, read);
      must(
        toBase64(Buffer.concat(proof)) === toBase64(Buffer.concat(slowProof(m, tree))),
        `proof of ${name}`,
      );
      const older = { size: BigInt(m), root: treeRoot(BigInt(m), read) };
      must(isConsistent(older, head, proof), `${m} to ${size}`);
      const forked = { size: older.size, root: slowRoot([...tree.slice(1, m), tree[0]!]) };
      if (m > 1) must(!isConsistent(forked, head, proof), `${m} to ${size}, forked`);
    }
    must(isConsistent(head, head, []), `${size} to itself`);
  }
  t.same(faults, []);
});

test('sizes above 2^31 and 2^53 are exact', async (t) => {
  for (const size of [2n ** 31n + 5n, 2n ** 53n + 3n, 2n ** 63n - 1n]) {
    // All entries are equal, so that the nodes of a level are equal too.
    const levels: Uint8Array[] = [leafHash(new Uint8Array())];
    for (let level = 1; level < 64; level += 1) levels.push(rootOf([levels[level - 1]!, levels[level - 1]!]));
    const read = ({ level }: { level: number }) => levels[level]!;
    const root = treeRoot(size, read);
    for (const index of [0n, size / 3n, size - 1n]) {
      const path = inclusionPath(index, size, read);
      t.ok(isIncluded(levels[0]!, { index, size, path }, root), `${index} in ${size}`);
      t.notOk(isIncluded(levels[1]!, { index, size, path }, root));
    }
    const proof = consistencyProof(size / 3n, size, read);
    t.ok(isConsistent({ size: size / 3n, root: treeRoot(size / 3n, read) }, { size, root }, proof));
    t.notOk(isConsistent({ size: size / 3n + 1n, root: treeRoot(size / 3n, read) }, { size, root }, proof));
  }
});

test('an empty tree has nothing in it and is the start of every tree', async (t) => {
  const none = { size: 0n, root: emptyRoot() };
  const one = { size: 1n, root: leafHash(Uint8Array.of(1)) };
  t.ok(isConsistent(none, none, []));
  t.ok(isConsistent(none, one, []));
  t.notOk(isConsistent(none, one, [one.root]));
  t.notOk(isConsistent(none, { size: 0n, root: one.root }, []));
  t.notOk(isConsistent(one, none, []));
  t.notOk(isIncluded(one.root, { index: 0n, size: 0n, path: [] }, none.root));
  t.notOk(isIncluded(one.root, { index: -1n, size: 1n, path: [] }, one.root));
});

test('the cases of transparency-dev/merkle', { skip }, async (t) => {
  const bytes = (text: string) => Buffer.from(text, 'base64');
  const run: Readonly<Record<string, (one: MerkleCase, proof: Uint8Array[]) => boolean>> = {
    inclusion: (one, path) =>
      isIncluded(
        bytes(one.leafHash),
        { index: BigInt(one.leafIdx), size: BigInt(one.treeSize), path },
        bytes(one.root),
      ),
    consistency: (one, proof) =>
      isConsistent(
        { size: BigInt(one.size1), root: bytes(one.root1) },
        { size: BigInt(one.size2), root: bytes(one.root2) },
        proof,
      ),
    subtreeinclusion: (one, path) =>
      isInSubtree(
        bytes(one.leafHash),
        { index: BigInt(one.leafIdx), path },
        { start: BigInt(one.start), end: BigInt(one.end), root: bytes(one.root) },
      ),
    subtreeconsistency: (one, proof) =>
      isSubtreeOf(
        { start: BigInt(one.start), end: BigInt(one.end), root: bytes(one.root1) },
        { size: BigInt(one.size), root: bytes(one.root2) },
        proof,
      ),
  };
  for (const [kind, holdsIn] of Object.entries(run)) {
    const files = readdirSync(join(MERKLE, kind), { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const wrong = files
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => {
        const one = parseExactJson(readFileSync(file, 'utf8')) as MerkleCase;
        return holdsIn(one, (one.proof ?? []).map(bytes)) === one.wantErr;
      });
    t.same(wrong, [], `${files.length} cases of ${kind}`);
    t.ok(files.length > 40, kind);
  }
});
