import { type Test, test } from 'tap';
import { BATCH_MAX } from '../../src/crypto/wasm/ecdsa_batch.js';
import { crafted, KEYS, recovered, type Signed, verify } from './batch_of_keys.js';
import { doPointsMeet, word } from './crafted_signatures.js';
import { forgeriesOf, MULTIPLES } from './forged_signatures.js';

// Tests with crafted signatures that reach rare cases of point addition.

/** Checks that each verdict is right. A valid signature must count as invalid if equal or opposite points are added. */
function areRight(t: Test, all: readonly { u1: bigint; u2: bigint; signed: Signed }[]): void {
  for (let from = 0; from < all.length; from += BATCH_MAX) {
    const some = all.slice(from, from + BATCH_MAX);
    const verdicts = verify(some.map(({ signed }) => signed));
    for (const [i, { u1, u2, signed }] of some.entries()) {
      const meet = doPointsMeet(KEYS[signed.key]!, u1, u2);
      const wanted = !meet && recovered(signed);
      if (verdicts[i] !== wanted)
        t.fail(`${verdicts[i]}, not ${wanted}: ${u1} · G + ${u2} · ${KEYS[signed.key]} · G`);
    }
  }
}

test('multiples at the edges, of keys near the generator: right, or not valid when points meet', async (t) => {
  const all = KEYS.flatMap((_, key) =>
    [0n, ...MULTIPLES].flatMap((u1, i) => {
      const u2 = MULTIPLES[(7 * i + key) % MULTIPLES.length]!;
      return [
        [u1, u2],
        [u1 === 0n ? 1n : u1, 1n],
        [1n, u1 === 0n ? 1n : u1],
      ].map(([one, two]) => ({ u1: one!, u2: two!, signed: crafted(key, one!, two!) }));
    }),
  );
  const met = all.filter(({ u1, u2, signed }) => doPointsMeet(KEYS[signed.key]!, u1, u2)).length;
  t.ok(met > 50, `${met} of ${all.length}`);
  areRight(t, all);
});

test('a wrong sum is never an r, though a forger can compute it', async (t) => {
  // A regression: key 1, digest 0, and an r that is the x coordinate of the incorrect sum.
  const found =
    '35224aba178161aecb90b847d1cf5e5f8933ada9c5b464e3c30ac7226e084c22' +
    '1a91255d0bc0b0d765c85c23e8e7af2fc499d6d4e2da3271e185639137042611';
  const known: Signed = { key: 0, digest: word(0n), rs: Buffer.from(found, 'hex'), recovery: 1 };
  t.equal(recovered(known), false);
  const pairs = KEYS.flatMap((_, key) =>
    [0n, ...MULTIPLES].flatMap((u1) =>
      [...MULTIPLES.slice(0, 6), 12_345n].map((u2): readonly [number, bigint, bigint] => [key, u1, u2]),
    ),
  );
  const forged = pairs
    .filter(([key, u1, u2]) => doPointsMeet(KEYS[key]!, u1, u2))
    .flatMap(([key, u1, u2]) => forgeriesOf(key, u1, u2))
    .filter((signed) => !recovered(signed));
  t.ok(forged.length > 300, `${forged.length} forgeries`);
  const accepted: string[] = [];
  const all = [known, ...forged];
  for (let from = 0; from < all.length; from += BATCH_MAX) {
    const some = all.slice(from, from + BATCH_MAX);
    for (const [i, verdict] of verify(some).entries()) if (verdict) accepted.push(JSON.stringify(some[i]));
  }
  t.same(accepted, []);
});
