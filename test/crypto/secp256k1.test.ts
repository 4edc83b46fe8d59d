import fc from 'fast-check';
import { test } from 'tap';
import { isCanonicalSignature } from '../../src/crypto/evm.js';
import { secp256k1 } from '../../src/crypto/secp256k1.js';
import { nobleSecp256k1 } from '../../src/crypto/secp256k1_noble.js';

const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const P = 2n ** 256n - 2n ** 32n - 977n;
const CASES = 1000;

const word = (value: bigint): Uint8Array => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');

/** Numbers where something changes: around 0, half the order, the order, the field and the end of 32 bytes. */
const edge = fc.constantFrom(
  0n,
  1n,
  2n,
  N / 2n,
  N / 2n + 1n,
  N - 1n,
  N,
  N + 1n,
  P - N,
  P - N - 1n,
  P - 1n,
  P,
  2n ** 256n - 1n,
);
const random = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const recovery = fc.constantFrom<0 | 1>(0, 1);

test('the native curve is in use where the tests run', async (t) => {
  if (secp256k1.implementation !== 'native')
    t.comment(`no native build for ${process.platform}-${process.arch}`);
  t.equal(nobleSecp256k1.implementation, 'noble');
});

test('both sign and recover the same, and emit low s', async (t) => {
  const digest = fc.oneof({ weight: 9, arbitrary: fc.bigInt({ min: 0n, max: N - 1n }) }, edge);
  const key = fc.oneof(
    { weight: 9, arbitrary: fc.bigInt({ min: 1n, max: N - 1n }) },
    fc.constantFrom(1n, 2n, N - 1n),
  );
  fc.assert(
    fc.property(digest, key, (digestNumber, keyNumber) => {
      const [digest32, key32] = [word(digestNumber), word(keyNumber)];
      const native = secp256k1.sign(digest32, key32);
      const noble = nobleSecp256k1.sign(digest32, key32);
      // Above n libsecp256k1 takes the digest into the nonce as it is, noble modulo n; both signatures are good.
      if (digestNumber < N)
        t.same(
          { ...native, signature: [...native.signature] },
          { ...noble, signature: [...noble.signature] },
        );
      const publicKey = secp256k1.publicKey(key32);
      for (const made of [native, noble]) {
        t.ok(isCanonicalSignature(made.signature));
        t.same([...(secp256k1.recover(digest32, made.signature, made.recovery) ?? [])], [...publicKey]);
      }
    }),
    { numRuns: CASES },
  );
});

test('both recover the same key, or none, from any numbers', async (t) => {
  const number = fc.oneof(random, edge);
  fc.assert(
    fc.property(number, number, number, recovery, (digest, r, s, parity) => {
      const signature = Buffer.concat([word(r), word(s)]);
      const native = secp256k1.recover(word(digest), signature, parity);
      const noble = nobleSecp256k1.recover(word(digest), signature, parity);
      t.same(native && [...native], noble && [...noble], `${digest} ${r} ${s} ${parity}`);
      if (r === 0n || s === 0n || r >= N || s >= N) t.equal(native, undefined);
    }),
    {
      numRuns: CASES,
      examples: [
        [0n, 1n, 1n, 0],
        [0n, 0n, 0n, 0],
        [N, N, N, 1],
      ],
    },
  );
});

test('both refuse private keys outside 1 .. n-1', async (t) => {
  for (const curve of [secp256k1, nobleSecp256k1]) {
    for (const key of [0n, N, N + 1n, 2n ** 256n - 1n]) {
      t.throws(() => curve.sign(word(1n), word(key)), RangeError);
      t.throws(() => curve.publicKey(word(key)), RangeError);
    }
    t.same([...curve.publicKey(word(1n))], [...secp256k1.publicKey(word(1n))]);
    t.equal(curve.publicKey(word(N - 1n)).length, 65);
  }
});
