import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import { test } from 'tap';
import { isCanonicalSignature } from '../../../src/crypto/evm.js';
import { secp256k1, systemSecp256k1 } from '../../../src/crypto/secp256k1/secp256k1.js';
import { wrongAnswerOf } from '../../../src/crypto/secp256k1/secp256k1_check.js';
import { loadNativeSecp256k1 } from '../../../src/crypto/secp256k1/secp256k1_native.js';
import { nobleSecp256k1 } from '../../../src/crypto/secp256k1/secp256k1_noble.js';
import type { Secp256k1 } from '../../../src/crypto/secp256k1/secp256k1_operations.js';
import { loadSystemSecp256k1 } from '../../../src/crypto/secp256k1/secp256k1_system.js';
import { holds } from '../../holds.js';
import { ROOT } from '../../pages.js';
import { cases } from '../../tier.js';

const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const P = 2n ** 256n - 2n ** 32n - 977n;
const CASES = cases(1_000);

const word = (value: bigint): Uint8Array => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');

/** Boundary values: around 0, half the order, the order, the field's prime and the end of 32 bytes. */
const edge = fc.constantFrom(
  ...[0n, 1n, 2n, N / 2n, N / 2n + 1n, N - 1n, N, N + 1n],
  ...[P - N, P - N - 1n, P - 1n, P, 2n ** 256n - 1n],
);
const random = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const recovery = fc.constantFrom<0 | 1>(0, 1);

const native = loadNativeSecp256k1();
const system = systemSecp256k1().curve;
const built = loadBuilt();
/** The curve implementations of this machine. noble is the reference. */
const CURVES = Object.entries({ native, system, built }).flatMap(([name, curve]) =>
  curve ? [{ name, curve }] : [],
);

test('the fastest one of this machine is in use', async (t) => {
  if (native === undefined) t.comment(`no native build for ${process.platform}-${process.arch}`);
  t.equal(secp256k1.implementation, (system ?? native ?? nobleSecp256k1).implementation);
});

for (const { name, curve } of CURVES) {
  test(`${name} and noble sign and recover the same, and emit low s`, async (t) => {
    const digest = fc.oneof({ weight: 9, arbitrary: fc.bigInt({ min: 0n, max: N - 1n }) }, edge);
    const key = fc.oneof(
      { weight: 9, arbitrary: fc.bigInt({ min: 1n, max: N - 1n }) },
      fc.constantFrom(1n, 2n, N - 1n),
    );
    holds(
      t,
      fc.property(digest, key, (digestNumber, keyNumber) => {
        const [digest32, key32] = [word(digestNumber), word(keyNumber)];
        const ours = curve.sign(digest32, key32);
        const noble = nobleSecp256k1.sign(digest32, key32);
        const room = new Uint8Array(64);
        assert.equal(curve.sign(digest32, key32, room).signature, room);
        assert.deepEqual([...room], [...ours.signature]);
        // Above n, libsecp256k1 uses the digest itself for the nonce, but noble uses the digest modulo n. Both signatures are
        // valid.
        if (digestNumber < N)
          assert.deepEqual(
            { ...ours, signature: [...ours.signature] },
            { ...noble, signature: [...noble.signature] },
          );
        const publicKey = curve.publicKey(key32);
        for (const made of [ours, noble]) {
          assert.ok(isCanonicalSignature(made.signature));
          assert.deepEqual(
            [...(curve.recover(digest32, made.signature, made.recovery) ?? [])],
            [...publicKey],
          );
        }
      }),
      { numRuns: CASES },
    );
  });

  test(`${name} and noble recover the same key, or none, from any numbers`, async (t) => {
    const number = fc.oneof(random, edge);
    holds(
      t,
      fc.property(number, number, number, recovery, (digest, r, s, parity) => {
        const signature = Buffer.concat([word(r), word(s)]);
        const ours = curve.recover(word(digest), signature, parity);
        const noble = nobleSecp256k1.recover(word(digest), signature, parity);
        assert.deepEqual(ours && [...ours], noble && [...noble], `${digest} ${r} ${s} ${parity}`);
        if (r === 0n || s === 0n || r >= N || s >= N) assert.equal(ours, undefined);
      }),
      { numRuns: CASES, examples: [[0n, 1n, 1n, 0]] },
    );
  });

  test(`${name} and noble refuse private keys outside 1 .. n-1`, async (t) => {
    for (const one of [curve, nobleSecp256k1]) {
      for (const key of [0n, N, N + 1n, 2n ** 256n - 1n]) {
        t.throws(() => one.sign(word(1n), word(key)), RangeError);
        t.throws(() => one.publicKey(word(key)), RangeError);
      }
      t.same([...one.publicKey(word(1n))], [...curve.publicKey(word(1n))]);
      t.equal(one.publicKey(word(N - 1n)).length, 65);
    }
  });
}

test('every implementation gives the answers by which a library is checked', async (t) => {
  for (const { name, curve } of [{ name: 'noble', curve: nobleSecp256k1 }, ...CURVES])
    t.equal(wrongAnswerOf(curve), undefined, name);
});

test('a library with one wrong answer is refused', async (t) => {
  const wrong = (changes: Partial<Secp256k1>) => wrongAnswerOf({ ...secp256k1, ...changes });
  const other = secp256k1.sign(word(5n), word(6n));
  t.equal(wrong({ sign: () => other }), 'a signature');
  t.equal(wrong({ publicKey: () => secp256k1.publicKey(word(9n)) }), 'a public key');
  t.equal(wrong({ recover: () => undefined }), 'a recovered key');
  const lowOnly: Secp256k1['recover'] = (digest32, signature64, parity) =>
    isCanonicalSignature(signature64) ? secp256k1.recover(digest32, signature64, parity) : undefined;
  t.equal(wrong({ recover: lowOnly }), 'a key recovered from a high s');
  const anything: Secp256k1['recover'] = (digest32, signature64, parity) =>
    secp256k1.recover(digest32, signature64, parity) ?? Buffer.alloc(65, 4);
  t.equal(wrong({ recover: anything }), 'a key recovered from r of 0');
  t.equal(wrong({ sign: acceptAnyKey(secp256k1.sign) }), 'a signature with an invalid key');
});

function loadBuilt(): Secp256k1 | undefined {
  const script = join(ROOT, 'scripts/secp256k1_library.sh');
  const { status, stdout } = spawnSync('bash', [script, '--built'], { encoding: 'utf8' });
  if (status !== 0) return undefined;
  const { curve, problem } = loadSystemSecp256k1(stdout.trim());
  if (problem !== undefined) throw new Error(problem);
  return curve;
}

/** Returns a function that signs with the key 1 if the given key is invalid. */
function acceptAnyKey(sign: Secp256k1['sign']): Secp256k1['sign'] {
  return (digest32, key32) => {
    try {
      return sign(digest32, key32);
    } catch {
      return sign(digest32, word(1n));
    }
  };
}
