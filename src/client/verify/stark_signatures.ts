import { bytesInteger, concatBytes, integerBytes } from './bytes.js';
import { hmacSha256 } from './hmac_sha256.js';
import { inverse } from './modular_inverse.js';
import { FIELD_PRIME, GENERATOR, GROUP_ORDER, isSumWithMultiple, Sum } from './stark_points.js';

declare const crypto: { getRandomValues(bytes: Uint8Array): Uint8Array };

/** A Stark-curve ECDSA signature. The number `s` may be high, unlike on secp256k1. */
export interface StarkSignature {
  readonly r: bigint;
  readonly s: bigint;
}

/** The exclusive upper limit of r, the message hash and the inverse of s. */
const VALUE_LIMIT = 1n << 251n;

/**
 * Returns the x coordinate of the public key.
 * @throws RangeError for a secret key of 32 bytes that is not in 1 .. n-1
 */
export function starkPublicX(secretKey: Uint8Array): bigint {
  return multipleOfGenerator(secretScalar(secretKey));
}

/**
 * Signs a `msg_hash` with the nonce of RFC 6979, as starknet.js does.
 * @throws RangeError for a hash of 2^251 or more, about one hash in 10^16
 */
export function starkSign(msgHash: bigint, secretKey: Uint8Array): StarkSignature {
  if (msgHash < 0n || msgHash >= VALUE_LIMIT) throw new RangeError('the hash is not below 2^251');
  const key = secretScalar(secretKey);
  const nonces = noncesOf(msgHash, key);
  for (;;) {
    const nonce = nonces.next().value;
    const r = multipleOfGenerator(nonce) % GROUP_ORDER;
    const s = ((msgHash + r * key) * blindInverse(nonce)) % GROUP_ORDER;
    if (r > 0n && r < VALUE_LIMIT && s > 0n && inverse(s, GROUP_ORDER) < VALUE_LIMIT) return { r, s };
  }
}

/**
 * Returns whether the key with the x coordinate `publicKey` signed `msgHash`. The wire format has no y, so either of the two
 * points with this x may have signed.
 */
export function starkVerify({ r, s }: StarkSignature, msgHash: bigint, publicKey: bigint): boolean {
  if (r < 1n || r >= VALUE_LIMIT || s < 1n || s >= GROUP_ORDER || msgHash < 0n || msgHash >= VALUE_LIMIT)
    return false;
  if (publicKey < 0n || publicKey >= FIELD_PRIME) return false;
  const w = inverse(s, GROUP_ORDER);
  if (w >= VALUE_LIMIT) return false;
  const sum = new Sum();
  GENERATOR.addMultiple(sum, (msgHash * w) % GROUP_ORDER);
  return isSumWithMultiple(sum, publicKey, (r * w) % GROUP_ORDER, r);
}

function secretScalar(secretKey: Uint8Array): bigint {
  const key = bytesInteger(secretKey);
  if (key < 1n || key >= GROUP_ORDER) throw new RangeError('the secret key is not in 1 .. n-1');
  return key;
}

function multipleOfGenerator(scalar: bigint): bigint {
  const sum = new Sum();
  GENERATOR.addMultiple(sum, scalar);
  return sum.toX()!;
}

/** Returns the inverse modulo n. The time depends on a random multiple of the secret instead of the secret. */
function blindInverse(secret: bigint): bigint {
  const factor = (bytesInteger(crypto.getRandomValues(new Uint8Array(32))) % (GROUP_ORDER - 1n)) + 1n;
  return (inverse(secret * factor, GROUP_ORDER) * factor) % GROUP_ORDER;
}

/** Yields nonces by RFC 6979, section 3.2, with SHA-256 and the truncation of elliptic and starknet.js. */
function* noncesOf(msgHash: bigint, key: bigint): Generator<bigint, never> {
  const seed = concatBytes(integerBytes(key, 32), integerBytes(msgHash, 32));
  let k: Uint8Array = new Uint8Array(32);
  let v: Uint8Array = new Uint8Array(32).fill(1);
  const mix = (...tail: Uint8Array[]): void => {
    k = hmacSha256(k, concatBytes(v, ...tail));
    v = hmacSha256(k, v);
  };
  mix(Uint8Array.of(0), seed);
  mix(Uint8Array.of(1), seed);
  for (;;) {
    v = hmacSha256(k, v);
    const nonce = leftmostBits(v);
    if (nonce > 0n && nonce < GROUP_ORDER) yield nonce;
    mix(Uint8Array.of(0));
  }
}

/**
 * Returns the first 252 bits of the block, or all 256 bits when the block begins with a zero byte, because elliptic and
 * starknet.js ignore leading zeros.
 */
function leftmostBits(block: Uint8Array): bigint {
  return block[0] === 0 ? bytesInteger(block) : bytesInteger(block) >> 4n;
}
