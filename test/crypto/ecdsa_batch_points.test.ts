import { type Test, test } from 'tap';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import { BATCH_MAX, EcdsaBatch } from '../../src/crypto/wasm/ecdsa_batch.js';
import { GROUP_ORDER as N, FIELD_PRIME as P } from '../../src/crypto/wasm/secp256k1_field_code.js';
import { crafted, FAR, KEYS, ordinary, recovered, type Signed, sign, verify } from './batch_of_keys.js';
import { doPointsMeet, inverse, modulo, power, word } from './crafted_signatures.js';
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

test('both multiples are the same point, or one the negative of the other', async (t) => {
  const random = 0x1d2c3b4a5968778695a4b3c2d1e0f0123456789abcdef0fedcba98765432100fn;
  const all = KEYS.flatMap((key, i) =>
    [random, 5n, N - 5n].flatMap((u2) => {
      const same = modulo(u2 * key, N);
      return [same, N - same].map((u1) => ({ u1, u2, signed: crafted(i, u1, u2) }));
    }),
  );
  for (const { u1, u2, signed } of all) t.ok(doPointsMeet(KEYS[signed.key]!, u1, u2));
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

test('an r that differs by one bit from the x of the sum is invalid', async (t) => {
  const nonce = 2n ** 100n;
  const { digest, rs, recovery } = craftedWithDigest(FAR, 5n);
  const r = BigInt(`0x${rs.toString('hex', 0, 32)}`);
  const s = BigInt(`0x${rs.toString('hex', 32)}`);
  const wrong = Array.from({ length: 256 }, (_, bit) => r ^ (2n ** BigInt(bit)))
    .filter((other) => other < N)
    .map((other): Signed => {
      // This digest keeps the sum at the same point.
      const digest = word(modulo(nonce * s - other * KEYS[FAR]!, N));
      return { key: FAR, digest, rs: Buffer.concat([word(other), word(s)]), recovery };
    });
  t.ok(wrong.length > 250);
  t.same(verify([{ key: FAR, digest, rs, recovery }]), [true]);
  while (wrong.length > 0) {
    const some = wrong.splice(0, BATCH_MAX);
    t.same(verify(some), new Array(some.length).fill(false));
  }
});

test('digests that are 0 modulo n make points meet, those above n are taken modulo n', async (t) => {
  const zero = crafted(FAR, 0n, 12_345n);
  const one = craftedWithDigest(FAR, 1n);
  const cases: readonly (readonly [Signed, boolean])[] = [
    [{ ...zero, digest: word(0n) }, false],
    [{ ...zero, digest: word(N) }, false],
    [{ ...one, digest: word(1n) }, true],
    [{ ...one, digest: word(N + 1n) }, true],
    [{ ...one, digest: word(2n) }, false],
    [{ ...one, digest: word(2n ** 256n - 1n) }, false],
    [craftedWithDigest(FAR, 2n ** 256n - 1n), true],
    [craftedWithDigest(FAR, P), true],
  ];
  t.same(
    verify(cases.map(([signed]) => signed)),
    cases.map(([, verdict]) => verdict),
  );
  for (const [i, [signed, verdict]] of cases.entries()) t.equal(recovered(signed), i < 2 || verdict);
});

/** Makes a valid signature with the nonce 2^100. */
function craftedWithDigest(key: number, digest: bigint): Signed & { rs: Buffer } {
  const nonce = 2n ** 100n;
  const point = Buffer.from(secp256k1.publicKey(word(nonce)));
  const r = BigInt(`0x${point.toString('hex', 1, 33)}`);
  const s = modulo((digest + r * KEYS[key]!) * inverse(nonce, N), N);
  return {
    key,
    digest: word(digest),
    rs: Buffer.concat([word(r), word(s)]),
    recovery: (point[64]! & 1) as 0 | 1,
  };
}

test('sums whose x or y is near 0 or the prime, where a number of the field has two forms', async (t) => {
  const near = [
    1n,
    2n ** 32n + 976n,
    2n ** 32n + 977n,
    2n ** 33n,
    2n ** 40n,
    2n ** 48n,
    2n ** 60n,
    2n ** 64n,
  ];
  // `firstFrom` finds points by x. For a given y, x is the cube root of y² − 7.
  const ofY = [...near, ...near.map((small) => P - small)].flatMap((y) => firstFrom(y, (one) => rootX(one)));
  const all = [...near.flatMap((x) => firstFrom(x, (one) => one)), ...ofY];
  const one = new EcdsaBatch(1);
  let valid = 0;
  for (const [i, x] of all.entries()) {
    for (const recovery of [0, 1] as const) {
      // For each digest there is a key that makes the signature valid.
      const digest = word(modulo(7n ** BigInt(99 + i), N));
      const rs = Buffer.concat([word(x), word(modulo(5n ** BigInt(120 + i), N))]);
      const publicKey = secp256k1.recover(digest, rs, recovery);
      if (publicKey === undefined) continue;
      one.learn(0, publicKey);
      one.add(0, digest, rs, recovery);
      one.add(0, digest, rs, recovery === 0 ? 1 : 0);
      t.same(one.verify(), [true, false], `${x} ${recovery}`);
      valid += 1;
    }
  }
  t.ok(valid >= 40, `${valid} points`);
});

/** Returns the first x coordinates, from `number` upwards, that can be an r. */
function firstFrom(number: bigint, xOf: (number: bigint) => bigint | undefined): bigint[] {
  const step = number > P / 2n ? -1n : 1n;
  const numbers = Array.from({ length: 8 }, (_, i) => xOf(number + step * BigInt(i)));
  return numbers.filter((x) => x !== undefined && x > 0n && x < N).slice(0, 3) as bigint[];
}

/** Returns the x of a point with this y; `undefined` if there is none. */
function rootX(y: bigint): bigint | undefined {
  const cube = modulo(y * y - 7n, P);
  // This formula of the cube root is correct because p mod 9 = 7.
  const root = power(cube, (P + 2n) / 9n, P);
  return power(root, 3n, P) === cube ? root : undefined;
}

test('points whose x have the same lowest limb are added as any', async (t) => {
  // The smallest positive digest with two such points for this key.
  const seeming = sign(FAR, word(2_781_687n));
  for (const place of [0, 31, BATCH_MAX - 1]) {
    const verdicts = verify(ordinary.with(place, seeming));
    t.same(verdicts, new Array(BATCH_MAX).fill(true));
  }
});
