import fc from 'fast-check';
import { test } from 'tap';
import { BATCH_MAX, EcdsaBatch } from '../../../src/crypto/wasm/ecdsa_batch.js';
import { GROUP_ORDER as N, FIELD_PRIME as P } from '../../../src/crypto/wasm/secp256k1_field_code.js';
import { cases } from '../../tier.js';
import {
  crafted,
  FAR,
  KEYS,
  ordinary,
  otherParity,
  publicKeys,
  recovered,
  type Signed,
  sign,
  verify,
} from '../batch_of_keys.js';
import { doPointsMeet, inverse, modulo, word } from '../crafted_signatures.js';

/** Boundary values that are possible values of r or s. */
const edge = fc.constantFrom(
  ...[1n, 2n, 3n, 127n, 128n, 255n, 256n, 2n ** 255n, P - N - 1n, P - N, P - N + 1n],
  ...[N / 2n, N / 2n + 1n, N - 2n, N - 1n],
);
const inGroup = fc.oneof(fc.bigInt({ min: 1n, max: N - 1n }), edge);
const digestNumber = fc.oneof(
  { weight: 3, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }) },
  edge,
  fc.constantFrom(0n, N, N + 1n, P, 2n ** 256n - 1n),
);
const keyNumber = fc.nat(KEYS.length - 1);

test('says what a recovery says, of signatures of which something is wrong or nothing', async (t) => {
  const kind = fc.constantFrom('good', 'good', 'digest', 'r', 's', 'high s', 'parity', 'key', 'all');
  const signed = fc
    .tuple(keyNumber, keyNumber, digestNumber, inGroup, inGroup, kind)
    .map(([key, otherKey, number, one, other, what]): Signed => {
      const good = sign(key, word(number));
      const [r, s] = [good.rs.subarray(0, 32), good.rs.subarray(32)];
      const high = word(N - BigInt(`0x${Buffer.from(s).toString('hex')}`));
      switch (what) {
        case 'digest':
          return { ...good, digest: word(one) };
        case 'r':
          return { ...good, rs: Buffer.concat([word(one), s]) };
        case 's':
          return { ...good, rs: Buffer.concat([r, word(one)]) };
        case 'high s':
          return otherParity({ ...good, rs: Buffer.concat([r, high]) });
        case 'parity':
          return otherParity(good);
        case 'key':
          return { ...good, key: otherKey };
        case 'all':
          return { ...good, rs: Buffer.concat([word(one), word(other)]) };
        default:
          return good;
      }
    });
  const size = fc.constantFrom(1, 2, 3, BATCH_MAX - 1, BATCH_MAX);
  const signatures = size.chain((length) => fc.array(signed, { minLength: length, maxLength: length }));
  const seen = { valid: 0, invalid: 0 };
  fc.assert(
    fc.property(signatures, (all) => {
      const verdicts = verify(all);
      t.equal(verdicts.length, all.length);
      for (const [i, verdict] of verdicts.entries()) {
        seen[verdict ? 'valid' : 'invalid'] += 1;
        const wanted = recovered(all[i]!) && !doMeet(all[i]!);
        if (verdict !== wanted) t.fail(`${verdict} of ${JSON.stringify(all[i])}`);
      }
    }),
    { numRuns: cases(150) },
  );
  t.ok(seen.valid > cases(400) && seen.invalid > cases(400), JSON.stringify(seen));
});

/** Returns whether two equal or opposite points are added in the signature's sum. */
function doMeet({ key, digest, rs }: Signed): boolean {
  const [z, r, s] = [digest, rs.subarray(0, 32), rs.subarray(32)].map((bytes) =>
    BigInt(`0x${Buffer.from(bytes).toString('hex')}`),
  ) as [bigint, bigint, bigint];
  const w = inverse(s, N);
  return doPointsMeet(KEYS[key]!, modulo(z * w, N), modulo(r * w, N));
}

test('an invalid signature, or one whose points meet, at any place of a batch changes no other verdict', async (t) => {
  const damaged = { ...ordinary[1]!, digest: word(5n) };
  const multiples: readonly (readonly [key: number, u1: bigint, u2: bigint])[] = [
    [FAR, 1n, modulo(-inverse(KEYS[FAR]!, N), N)],
    [FAR, 0n, 77n],
    [0, 511n, 511n],
    [7, 3n * 2n ** 248n, 3n],
  ];
  for (const [key, u1, u2] of multiples) t.ok(doPointsMeet(KEYS[key]!, u1, u2));
  const meeting = multiples.map(([key, u1, u2]) => crafted(key, u1, u2));
  for (const bad of [damaged, ...meeting]) {
    for (let place = 0; place < BATCH_MAX; place++) {
      const wanted = new Array<boolean>(BATCH_MAX).fill(true);
      wanted[place] = false;
      const verdicts = verify(ordinary.with(place, bad));
      if (verdicts.join() !== wanted.join()) t.fail(`at ${place}: ${verdicts.join()}`);
    }
  }
  t.same(verify(meeting), [false, false, false, false]);
  t.same(verify(ordinary.slice(0, 3)), [true, true, true]);
});

test('a key that is learned instead of another one', async (t) => {
  const one = new EcdsaBatch(2);
  const verdictOf = ({ digest, rs, recovery }: Signed): boolean => {
    one.add(1, digest, rs, recovery);
    return one.verify()[0]!;
  };
  const [former, latter] = [sign(FAR, word(1n)), sign(FAR + 1, word(1n))];
  one.learn(1, publicKeys[FAR]!);
  one.learn(0, publicKeys[2]!);
  t.same([verdictOf(former), verdictOf(latter)], [true, false]);
  one.learn(1, publicKeys[FAR + 1]!);
  t.same([verdictOf(former), verdictOf(latter)], [false, true]);
});
