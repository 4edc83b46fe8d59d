import { test } from 'tap';
import { BATCH_MAX, EcdsaBatch } from '../../../src/crypto/wasm/ecdsa_batch.js';
import { GROUP_ORDER as N } from '../../../src/crypto/wasm/secp256k1_field_code.js';
import {
  crafted,
  FAR,
  KEYS,
  ordinary,
  otherParity,
  publicKeys,
  recovered,
  type Signed,
  verify,
} from '../batch_of_keys.js';
import { modulo } from '../crafted_signatures.js';
import { MULTIPLES } from '../forged_signatures.js';

const wide = new EcdsaBatch(KEYS.length, 10);
for (const [i, publicKey] of publicKeys.entries()) wide.learn(i, publicKey);

function verifyWide(signatures: readonly Signed[]): boolean[] {
  const verdicts: boolean[] = [];
  for (let from = 0; from < signatures.length; from += BATCH_MAX)
    verdicts.push(...verify(signatures.slice(from, from + BATCH_MAX), wide));
  return verdicts;
}

test('digits of 10 bits: ordinary signatures have the right verdict, in batches of each size', async (t) => {
  const signatures = ordinary.map((signed, i) => (i % 3 === 0 ? otherParity(signed) : signed));
  const wanted = signatures.map((_, i) => i % 3 !== 0);
  for (let count = 1; count <= BATCH_MAX; count++)
    t.same(verifyWide(signatures.slice(0, count)), wanted.slice(0, count), `${count}`);
});

test('digits of 10 bits: multiples at the edges are right, or not valid when points meet', async (t) => {
  const all = KEYS.flatMap((_, key) =>
    MULTIPLES.map((u2, i) => crafted(key, MULTIPLES[(7 * i + key) % MULTIPLES.length]!, u2)),
  ).flatMap((signed) => [signed, otherParity(signed)]);
  const wanted = all.map((signed) => recovered(signed));
  const verdicts = verifyWide(all);
  t.same(
    verdicts.filter((verdict, i) => verdict && !wanted[i]),
    [],
  );
  const missed = verdicts.filter((verdict, i) => !verdict && wanted[i]).length;
  t.ok(missed < all.length / 8, `${missed} of ${all.length} must be verified alone`);
});

test('digits of 10 bits: each digit at each place', async (t) => {
  const all: Signed[] = [];
  for (let bit = 1; bit < 256; bit++) {
    const u2 = modulo(2n ** BigInt(bit) * 0x2e5n + 1n, N);
    all.push(crafted(FAR, modulo(u2 * 3n + 5n, N), u2), crafted(FAR + 1, u2, modulo(N - u2 * 7n, N)));
  }
  t.same(
    verifyWide(all),
    all.map(() => true),
  );
});
