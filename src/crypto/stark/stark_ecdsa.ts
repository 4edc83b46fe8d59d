import { createHmac, randomBytes } from 'node:crypto';
import { Point } from '@scure/starknet';
import type { SignatureVerdict } from '../verdict.js';
import type { Pedersen } from './pedersen.js';
import { fieldBytes, fieldNumber, type StarkMessage } from './stark.js';
import {
  GENERATOR,
  GROUP_ORDER,
  type Multiplicand,
  PlainPoint,
  PointSum,
  pointWithX,
  TabledPoint,
} from './stark_curve.js';

/** A Stark signature and the signed hash. Each value has 32 big-endian bytes. */
export interface StarkSignatureBytes {
  readonly msgHash: Uint8Array;
  readonly r: Uint8Array;
  readonly s: Uint8Array;
}

/** A signature that a publisher declares, and the declared message. Each field has 32 big-endian bytes. */
export interface StarkClaim extends StarkMessage, StarkSignatureBytes {
  /** The x coordinate of the public key. */
  readonly publicKey: Uint8Array;
}

/**
 * Verifies Stark signatures of publishers that sign repeatedly. Each key gets a table of multiples at its first signature, which
 * takes 15 ms and 0.5 MB. With the table, a verification with its hash takes 0.2 ms instead of 3.8 ms.
 */
export class StarkVerifier {
  readonly #pedersen: Pedersen;
  readonly #keysMax: number;
  /** The keys by x coordinate, least recently used first. The point is `undefined` when the curve has no point with this x. */
  readonly #keys = new Map<bigint, TabledKey>();
  #verifications = 0;

  /** @param keysMax the largest number of keys with a table. A verification with any other key takes 2 to 4 ms */
  constructor(pedersen: Pedersen, keysMax = 256) {
    this.#pedersen = pedersen;
    this.#keysMax = keysMax;
  }

  /**
   * Applies the rules of StarkWare's verifier. r and the hash must be in 0 .. 2^251-1, and r must not be 0. s must be in 1 .. n-1,
   * and its inverse must be below 2^251. The nonce point's x must equal r itself, not only modulo n. A high s is valid.
   */
  verify(claim: StarkClaim): SignatureVerdict {
    const r = fieldNumber(claim.r);
    const s = fieldNumber(claim.s);
    const msgHash = fieldNumber(claim.msgHash);
    if (r === 0n || r >= VALUE_LIMIT || s === 0n || s >= GROUP_ORDER || msgHash >= VALUE_LIMIT) {
      return 'invalid signature';
    }
    if (!this.#pedersen.isHash(fieldNumber(claim.x), fieldNumber(claim.y), msgHash)) return 'hash mismatch';
    const w = Point.Fn.inv(s);
    if (w >= VALUE_LIMIT) return 'invalid signature';
    const key = this.#key(fieldNumber(claim.publicKey));
    const nonce = new PointSum();
    GENERATOR.addMultiple(nonce, (msgHash * w) % GROUP_ORDER, false);
    return isNonceOf(key, nonce, (r * w) % GROUP_ORDER, r) ? 'valid' : 'invalid signature';
  }

  #key(x: bigint): TabledKey {
    this.#verifications += 1;
    const known = this.#keys.get(x);
    if (known !== undefined) {
      known.usedAt = this.#verifications;
      this.#keys.delete(x);
      this.#keys.set(x, known);
      return known;
    }
    const affine = pointWithX(x);
    const key: TabledKey = { point: undefined, negative: false, usedAt: this.#verifications };
    if (this.#keys.size >= this.#keysMax && !this.#dropIdleKey()) {
      if (affine !== undefined) key.point = new PlainPoint(affine);
      return key;
    }
    if (affine !== undefined) key.point = new TabledPoint(affine, KEY_WINDOW_BITS);
    this.#keys.set(x, key);
    return key;
  }

  /** Drops an idle key. Making a table takes as long as 80 verifications, so a key in use never loses its table to another key. */
  #dropIdleKey(): boolean {
    const [x, key] = this.#keys.entries().next().value!;
    return this.#verifications - key.usedAt > IDLE_VERIFICATIONS && this.#keys.delete(x);
  }
}

/**
 * Signs a hash with the deterministic nonce of RFC 6979, with the same result as @scure/starknet and starknet.js.
 * @param hash the Pedersen hash of the message, below 2^251.
 * @returns r and s as numbers; s may be in the upper half, as is usual on this curve.
 * @throws RangeError when `hash` is not below 2^251 (once in 2^55 messages) or `key` is not in 1 .. n-1.
 */
export function starkSign(hash: bigint, key: bigint): { r: bigint; s: bigint } {
  if (hash < 0n || hash >= VALUE_LIMIT) throw new RangeError('Stark message hash is not below 2^251');
  refuseInvalidKey(key);
  const nonces = noncesOf(hash, key);
  for (;;) {
    const nonce = nonces.next().value;
    const r = multipleOfGenerator(nonce) % GROUP_ORDER;
    const s = ((hash + r * key) * blindInverse(nonce)) % GROUP_ORDER;
    if (r > 0n && r < VALUE_LIMIT && s > 0n && Point.Fn.inv(s) < VALUE_LIMIT) return { r, s };
  }
}

/** Hashes and signs a message with a private key in 1 .. n-1. */
export function starkSignMessage(
  pedersen: Pedersen,
  message: StarkMessage,
  key: bigint,
): StarkSignatureBytes {
  const hash = pedersen.hash(fieldNumber(message.x), fieldNumber(message.y));
  const { r, s } = starkSign(hash, key);
  return { msgHash: fieldBytes(hash), r: fieldBytes(r), s: fieldBytes(s) };
}

/**
 * Returns the public key in the form for messages: the x coordinate, 32 bytes.
 * @throws RangeError when `key` is not in 1 .. n-1.
 */
export function starkPublicKey(key: bigint): Buffer {
  refuseInvalidKey(key);
  // This function does not use the generator's table, because a service may have a Stark key but no Stark asset. `multiply` takes
  // the same time for each key.
  return fieldBytes(Point.fromAffine(Point.BASE.toAffine()).multiply(key).toAffine().x);
}

interface TabledKey {
  point: Multiplicand | undefined;
  /** The sign of the point in the key's last valid signature. The curve has two points with the key's x. */
  negative: boolean;
  usedAt: number;
}

/** The exclusive upper limit of r, of the message hash and of the inverse of s. */
const VALUE_LIMIT = 2n ** 251n;

const KEY_WINDOW_BITS = 8;
/** The number of verifications without a use after which the table of a key may be dropped. */
const IDLE_VERIFICATIONS = 1_000;

/**
 * Checks that `base` plus or minus u2 times the key has r as its x. A publisher's key is only an x coordinate, so the check tries
 * both points. The first attempt uses the point of the last valid signature.
 */
function isNonceOf(key: TabledKey, base: PointSum, u2: bigint, r: bigint): boolean {
  if (key.point === undefined) return false;
  for (const negative of [key.negative, !key.negative]) {
    const nonce = base.copy();
    key.point.addMultiple(nonce, u2, negative);
    if (nonce.hasX(r)) {
      key.negative = negative;
      return true;
    }
  }
  return false;
}

function refuseInvalidKey(key: bigint): void {
  if (key <= 0n || key >= GROUP_ORDER) throw new RangeError('Stark private key is not in 1 .. n-1');
}

/**
 * Returns the x of a secret multiple of the generator. The time of one multiplication would reveal bits of the secret, because
 * zero windows need no addition. A few bits of many nonces are enough to find the key. So this function splits the scalar into
 * two random parts.
 */
function multipleOfGenerator(secret: bigint): bigint {
  const part = randomScalar();
  const sum = new PointSum();
  GENERATOR.addMultiple(sum, part, false);
  GENERATOR.addMultiple(sum, (secret + GROUP_ORDER - part) % GROUP_ORDER, false);
  return sum.toAffine()!.x;
}

/** Returns the inverse modulo n. The time depends on a random multiple of the secret, not on the secret. */
function blindInverse(secret: bigint): bigint {
  const factor = randomScalar();
  return (Point.Fn.inv((secret * factor) % GROUP_ORDER) * factor) % GROUP_ORDER;
}

function randomScalar(): bigint {
  return (fieldNumber(randomBytes(32)) % (GROUP_ORDER - 1n)) + 1n;
}

/** Yields the nonces of RFC 6979, section 3.2, with SHA-256 and with the truncation of elliptic and starknet.js. */
function* noncesOf(hash: bigint, key: bigint): Generator<bigint, never> {
  const seed = Buffer.concat([fieldBytes(key), fieldBytes(hash)]);
  let k: Buffer = Buffer.alloc(32, 0);
  let v: Buffer = Buffer.alloc(32, 1);
  const mix = (...tail: Uint8Array[]): void => {
    k = hmac(k, v, ...tail);
    v = hmac(k, v);
  };
  mix(Buffer.of(0), seed);
  mix(Buffer.of(1), seed);
  for (;;) {
    v = hmac(k, v);
    const nonce = leftmostBits(v);
    if (nonce > 0n && nonce < GROUP_ORDER) yield nonce;
    mix(Buffer.of(0));
  }
}

/**
 * Returns the first 252 bits. Returns all 256 bits when the block begins with a zero byte, because elliptic and starknet.js ignore
 * leading zeros.
 */
function leftmostBits(block: Buffer): bigint {
  return block[0] === 0 ? fieldNumber(block) : fieldNumber(block) >> 4n;
}

function hmac(key: Buffer, ...parts: Uint8Array[]): Buffer {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}
