import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Test, test } from 'tap';
import { verifyByNode } from '../../src/tlog/ed25519_key.js';
import { toBase64 } from '../../src/tlog/log_text.js';
import { verifySignatures } from '../../src/tlog/note_keys.js';
import { formatNote, parseNote } from '../../src/tlog/signed_note.js';
import { nodesFromTiles, tilePath, tilesBetween, writeBundle } from '../../src/tlog/tiles.js';
import { TlogError } from '../../src/tlog/tlog_error.js';
import { leafHash } from '../../src/tlog/tree_hash.js';
import { consistencyProof, inclusionPath, treeRoot } from '../../src/tlog/tree_nodes.js';
import { isConsistent, isIncluded } from '../../src/tlog/tree_proofs.js';
import { formatVerifierKey, parseVerifierKey } from '../../src/tlog/verifier_key.js';
import { Random } from '../random.js';
import { ask, goJudge, type Judge, pythonJudge } from './judges.js';
import { nodesOfEntries, numberedEntries, TESSERA_CHECKPOINT, TESSERA_KEY } from './small_log.js';
import { tileBytes } from './tile_bytes.js';
import { LOG, LOG_ORIGIN, WITNESSES } from './witnessed_log.js';

// Comparisons with other implementations, if they are installed: golang.org/x/mod/sumdb for Go and aics-tlog for Python.
// TICKSEAL_TLOG_PYTHON selects a Python other than python3; scripts/python_packages.sh tlog makes one. The seed of the random changes is the date.

const choices = new Random(Math.floor(Date.now() / 86_400_000));
const random = (below: number) => choices.below(below);

for (const judge of [goJudge(), pythonJudge()]) {
  const { name, skip } = judge;
  test(`proofs, and changes of proofs, are judged as ${name} judges them`, { skip }, async (t) => {
    const entries = numberedEntries(600);
    const read = nodesOfEntries(entries);
    const cases: object[] = [];
    const ours: boolean[] = [];
    for (let i = 0; i < 1_500; i += 1) {
      const size = 1 + random(600);
      const index = random(size);
      const n = BigInt(size);
      const root = changed(treeRoot(n, read), i % 11 === 0);
      const leaf = leafHash(entries[index]!);
      const path = changedList(inclusionPath(BigInt(index), n, read), i % 2 === 0);
      const claimed = { index: index + (i % 7 === 0 ? 1 : 0), size: size + (i % 5 === 0 ? 1 : 0) };
      cases.push({
        kind: 'inclusion',
        ...claimed,
        root: toBase64(root),
        leaf: toBase64(leaf),
        hashes: path.map(toBase64),
      });
      ours.push(isIncluded(leaf, { index: BigInt(claimed.index), size: BigInt(claimed.size), path }, root));
      const older = 1 + random(size);
      const proof = changedList(consistencyProof(BigInt(older), n, read), i % 2 === 1);
      const before = changed(treeRoot(BigInt(older), read), i % 13 === 0);
      const sizes = { older, size: size + (i % 6 === 0 ? 1 : 0) };
      cases.push({
        kind: 'consistency',
        ...sizes,
        root: toBase64(root),
        other: toBase64(before),
        hashes: proof.map(toBase64),
      });
      ours.push(
        isConsistent({ size: BigInt(older), root: before }, { size: BigInt(sizes.size), root }, proof),
      );
    }
    await sameVerdicts(t, judge, cases, ours);
    t.ok(ours.filter(Boolean).length > 500, 'many hold');
    t.ok(ours.filter((one) => !one).length > 500, 'many do not');
  });

  test(`notes, and changes of notes, are judged as ${name} judges them`, { skip }, async (t) => {
    const { text } = parseNote(TESSERA_CHECKPOINT);
    const lines = [
      LOG.sign(LOG_ORIGIN, text),
      ...WITNESSES.map(({ key, name }) => key.cosign(name, text, 1_795_298_519n)),
    ];
    const cosigned = formatNote({
      text,
      signatures: [...parseNote(TESSERA_CHECKPOINT).signatures, ...lines],
    });
    const keys = [
      TESSERA_KEY,
      formatVerifierKey(LOG.logKey(LOG_ORIGIN)),
      ...WITNESSES.map(({ key, name }) => formatVerifierKey(key.witnessKey(name))),
    ];
    const cases: object[] = [];
    const ours: boolean[] = [];
    for (let i = 0; i < 3_000; i += 1) {
      const note = Buffer.from(cosigned);
      const at = random(note.length);
      if (i % 3 === 1) note[at]! ^= 1 << random(8);
      const bytes =
        i % 3 === 2 ? Buffer.concat([note.subarray(0, at), note.subarray(at + 1 + random(3))]) : note;
      // Go accepts non-canonical Base64, in which unused bits are set. Our code refuses it.
      if (!isCanonical(bytes)) continue;
      cases.push({ kind: 'note', note: toBase64(bytes), keys });
      ours.push(await isVerified(bytes, keys));
    }
    await sameVerdicts(t, judge, cases, ours, judge.isLax);
    t.ok(ours.filter(Boolean).length >= 1_000, 'many hold');
  });

  test(`${name} reads our tiles, and makes the same proofs of them`, { skip }, async (t) => {
    for (const size of [1, 15, 255, 256, 257, 66_000]) {
      const folder = mkdtempSync(join(tmpdir(), 'tickseal-tiles-'));
      t.teardown(() => rmSync(folder, { recursive: true, force: true }));
      const entries = numberedEntries(size);
      const leaves = entries.map((entry) => leafHash(entry));
      const bytesOf = tileBytes(leaves);
      for (const tile of tilesBetween(0n, BigInt(size))) {
        const path = join(folder, tilePath(tile));
        mkdirSync(dirname(path), { recursive: true });
        const start = 256 * Number(tile.index);
        const bundle = () => writeBundle(entries.slice(start, start + tile.width));
        writeFileSync(path, tile.level === 'entries' ? bundle() : bytesOf(tile));
      }
      const nodes = nodesFromTiles(BigInt(size), bytesOf);
      const [index, older] = [random(size), 1 + random(size)];
      const root = toBase64(treeRoot(BigInt(size), nodes));
      const [verdict] = await ask(judge, [{ kind: 'files', folder, size, index, older, root }]);
      t.match(verdict, { Accepted: true, Root: root }, `size ${size}`);
      t.same(verdict!.Inclusion, inclusionPath(BigInt(index), BigInt(size), nodes).map(toBase64));
      t.same(verdict!.Consistency, consistencyProof(BigInt(older), BigInt(size), nodes).map(toBase64));
    }
  });
}

async function sameVerdicts(
  t: Test,
  judge: Judge,
  cases: readonly object[],
  ours: readonly boolean[],
  mayAcceptMore = false,
): Promise<void> {
  const verdicts = await ask(judge, cases);
  t.equal(verdicts.length, cases.length);
  const others = verdicts.flatMap(({ Accepted }, i) =>
    Accepted === ours[i] || (mayAcceptMore && Accepted)
      ? []
      : [`ours ${ours[i]}, ${judge.name} ${Accepted}: ${JSON.stringify(cases[i]).slice(0, 2_000)}`],
  );
  t.same(others, []);
}

async function isVerified(note: Uint8Array, keys: readonly string[]): Promise<boolean> {
  try {
    const read = parseNote(note);
    return (await verifySignatures(read, keys.map(parseVerifierKey), verifyByNode)).length > 0;
  } catch (error) {
    if (error instanceof TlogError) return false;
    throw error;
  }
}

/** Returns whether the Base64 of every signature line is canonical. */
function isCanonical(note: Uint8Array): boolean {
  const lines =
    Buffer.from(note)
      .toString()
      .match(/(?<=^— \S+ ).*$/gm) ?? [];
  return lines.every((base64) => Buffer.from(base64, 'base64').toString('base64') === base64);
}

function changed(hash: Uint8Array, isChanged: boolean): Uint8Array {
  const copy = hash.slice();
  if (isChanged) copy[random(32)]! ^= 1 << random(8);
  return copy;
}

/** Returns the list unchanged, or with one changed, removed or added hash. */
function changedList(hashes: readonly Uint8Array[], isChanged: boolean): Uint8Array[] {
  if (!isChanged) return [...hashes];
  const copy = [...hashes];
  const place = random(copy.length + 1);
  const kind = random(3);
  if (kind === 0 && place < copy.length) copy[place] = changed(copy[place]!, true);
  else if (kind === 1) copy.splice(place, 1);
  else copy.splice(place, 0, new Uint8Array(randomBytes(32)));
  return copy;
}
