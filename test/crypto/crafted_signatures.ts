import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import { GROUP_ORDER as N } from '../../src/crypto/wasm/secp256k1_field_code.js';

/** The fields of a signature for {@link EcdsaBatch}. */
export interface Signature {
  readonly digest: Uint8Array;
  readonly rs: Uint8Array;
  readonly recovery: 0 | 1;
}

export function word(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
}

export function modulo(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

export function power(value: bigint, exponent: bigint, modulus: bigint): bigint {
  let [result, factor] = [1n, modulo(value, modulus)];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * factor) % modulus;
    factor = (factor * factor) % modulus;
  }
  return result;
}

/** Returns 1 / value, by Fermat's little theorem. */
export function inverse(value: bigint, prime: bigint): bigint {
  return power(value, prime - 2n, prime);
}

/**
 * Makes a valid signature of a private key. Verifying the signature takes the multiples u1 of the generator and u2 of the
 * key, and the digest follows from these multiples. The signature is invalid when the sum of the multiples is not a point.
 * @param u2 1 .. n - 1
 */
export function craft(key: bigint, u1: bigint, u2: bigint): Signature {
  const nonce = modulo(u1 + u2 * key, N);
  const point = Buffer.from(secp256k1.publicKey(word(nonce === 0n ? 1n : nonce)));
  const r = modulo(BigInt(`0x${point.toString('hex', 1, 33)}`), N);
  const s = modulo(r * inverse(u2, N), N);
  return {
    digest: word(modulo(u1 * s, N)),
    rs: Buffer.concat([word(r), word(s)]),
    recovery: (point[64]! & 1) as 0 | 1,
  };
}

/**
 * Returns whether two equal or opposite points are added for these multiples. Numbers are enough to find this, because all points
 * are multiples of the generator.
 */
export function doPointsMeet(key: bigint, u1: bigint, u2: bigint): boolean {
  let points = [...partsOf(u1), ...partsOf(u2).map((part) => modulo(part * key, N))];
  while (points.length > 1) {
    const sums: bigint[] = [];
    for (let i = 0; i < points.length; i += 2) {
      const [left, right] = [points[i]!, points[i + 1]!];
      if (left === right || left + right === N || left === 0n) return true;
      sums.push(modulo(left + right, N));
    }
    points = sums;
  }
  return false;
}

/** Returns the 32 parts of an odd multiple. A part is an odd multiple up to 255 of a power of 256. */
function partsOf(multiple: bigint): bigint[] {
  const isEven = (multiple & 1n) === 0n;
  const half = ((isEven ? N - multiple : multiple) >> 1n) + 2n ** 255n;
  return Array.from({ length: 32 }, (_, place) => {
    const part = (2n * ((half >> BigInt(8 * place)) & 255n) - 255n) * 256n ** BigInt(place);
    return modulo(isEven ? -part : part, N);
  });
}
