import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import { BATCH_MAX, EcdsaBatch } from '../../src/crypto/wasm/ecdsa_batch.js';
import { GROUP_ORDER as N } from '../../src/crypto/wasm/secp256k1_field_code.js';
import { craft, modulo, type Signature, word } from './crafted_signatures.js';

/** Keys whose points are near points of the generator's table, and some other keys. */
export const KEYS: readonly bigint[] = [
  ...[1n, 2n, 3n, 255n, 256n, 257n, 2n ** 64n, 2n ** 248n, 255n * 2n ** 248n],
  ...[N - 1n, N - 2n, N - 256n, (N + 1n) / 2n, (N - 1n) / 2n],
  ...[0x8b558d5fc31eb64bb51d44b4b28658180e96764d5d5ac68e6d124f86f576d9den, 2n ** 200n + 99n],
];
export const publicKeys = KEYS.map((key) => Buffer.from(secp256k1.publicKey(word(key))));
export const FAR = KEYS.length - 2;

export const batch = new EcdsaBatch(KEYS.length);
for (const [i, publicKey] of publicKeys.entries()) batch.learn(i, publicKey);

export interface Signed extends Signature {
  readonly key: number;
}

/** Verifies signatures in a single batch that knows all keys. */
export function verify(signatures: readonly Signed[]): boolean[] {
  for (const { key, digest, rs, recovery } of signatures) batch.add(key, digest, rs, recovery);
  return batch.verify();
}

/** Returns whether recovering the key gives the expected key. */
export function recovered({ key, digest, rs, recovery }: Signed, curve = secp256k1): boolean {
  const publicKey = curve.recover(digest, rs, recovery);
  return publicKey !== undefined && publicKeys[key]!.equals(publicKey);
}

export function sign(key: number, digest: Uint8Array): Signed {
  const { signature, recovery } = secp256k1.sign(digest, word(KEYS[key]!));
  return { key, digest, rs: Buffer.from(signature), recovery };
}

export const crafted = (key: number, u1: bigint, u2: bigint): Signed => ({
  key,
  ...craft(KEYS[key]!, u1, u2),
});
export const otherParity = (signed: Signed): Signed => ({
  ...signed,
  recovery: signed.recovery === 0 ? 1 : 0,
});

/** Ordinary signatures of several keys. */
export const ordinary = Array.from({ length: BATCH_MAX }, (_, i) =>
  sign(i % 2 === 0 ? FAR : FAR + 1, word(modulo(7n ** BigInt(100 + i), N))),
);
