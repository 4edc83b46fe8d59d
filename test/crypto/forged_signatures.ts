import { LIMB_BITS, LIMBS, NUMBER_BYTES } from '../../src/crypto/wasm/limbs.js';
import { GROUP_ORDER as N, FIELD_PRIME as P } from '../../src/crypto/wasm/secp256k1_field_code.js';
import { GENERATOR_TABLE, Secp256k1Tables } from '../../src/crypto/wasm/secp256k1_tables.js';
import { KEYS, publicKeys, type Signed } from './batch_of_keys.js';
import { inverse, modulo, word } from './crafted_signatures.js';

/** Small multiples, and multiples in which all or almost all bytes, or half of the bytes, are equal. */
export const MULTIPLES: readonly bigint[] = [
  ...[1n, 2n, 3n, 4n, 127n, 128n, 129n, 254n, 255n, 256n, 257n, 511n, 512n],
  ...[0x00ffn, 0x7f7fn, 0x8080n, 0xff00n].flatMap((bytes) => [repeated(bytes), repeated(bytes) + 1n]),
  ...[8n, 64n, 247n, 248n, 249n, 255n].flatMap((bit) => [-1n, 0n, 1n].map((step) => 2n ** bit + step)),
  ...[N / 2n, N / 2n + 1n, N - 256n, N - 255n, N - 3n, N - 2n, N - 1n],
];

function repeated(twoBytes: bigint): bigint {
  return modulo(BigInt(`0x${twoBytes.toString(16).padStart(4, '0').repeat(16)}`), N);
}

const tables = new Secp256k1Tables(1 + KEYS.length, NUMBER_BYTES);
for (const [i, publicKey] of publicKeys.entries()) tables.fill(1 + i, publicKey.subarray(1));

/** Signatures of both parities whose r is the x coordinate of the tables' sum of these multiples. */
export function forgeriesOf(key: number, u1: bigint, u2: bigint): Signed[] {
  for (const [part, multiple] of [u1, u2].entries()) {
    const isEven = (multiple & 1n) === 0n;
    tables.arithmetic.write(tables.freeFrom, isEven ? N - multiple : multiple);
    tables.choose(0, part as 0 | 1, part === 0 ? GENERATOR_TABLE : 1 + key, tables.freeFrom, isEven ? 1 : 0);
  }
  tables.add(1);
  const at = tables.pointOf(0) / 4;
  let x = 0n;
  for (let i = LIMBS - 1; i >= 0; i--)
    x = x * 2n ** BigInt(LIMB_BITS) + BigInt(tables.arithmetic.limbs[at + i]!);
  const r = modulo(modulo(x, P), N);
  const s = modulo(r * inverse(u2, N), N);
  if (r === 0n) return [];
  const rs = Buffer.concat([word(r), word(s)]);
  return ([0, 1] as const).map((recovery) => ({ key, digest: word(modulo(u1 * s, N)), rs, recovery }));
}
