import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { nobleSecp256k1 } from './secp256k1_noble.js';

/** An ECDSA signature over secp256k1 from which the public key can be recovered. */
export interface RecoverableSignature {
  /** r then s, 32 big-endian bytes each; s is in the lower half of the group order. */
  readonly signature: Uint8Array;
  /** The parity of the nonce point's y coordinate. */
  readonly recovery: 0 | 1;
}

/** The three curve operations, native or in JavaScript. */
export interface Secp256k1 {
  /**
   * Signs 32 bytes with the deterministic nonce of RFC 6979 and low s.
   * @throws RangeError when `key32` is not in 1 .. n-1.
   */
  sign(digest32: Uint8Array, key32: Uint8Array): RecoverableSignature;
  /**
   * The 65-byte uncompressed public key that made a signature over `digest32`, or `undefined` when there is none.
   * It accepts a high s; see `isCanonicalSignature`. It never throws for a 32-byte digest and a 64-byte signature.
   * @param out65 when given, it is written and returned
   */
  recover(
    digest32: Uint8Array,
    signature64: Uint8Array,
    recovery: 0 | 1,
    out65?: Uint8Array,
  ): Uint8Array | undefined;
  /**
   * The 65-byte uncompressed public key of a private key.
   * @throws RangeError when `key32` is not in 1 .. n-1.
   */
  publicKey(key32: Uint8Array): Uint8Array;
  readonly implementation: 'native' | 'noble';
}

/**
 * libsecp256k1 when its binding has a build for this platform (sign 37 µs, recover 53 µs), otherwise @noble/secp256k1
 * (30 to 40 times slower). The service logs a warning when it starts without the native one.
 */
export const secp256k1: Secp256k1 = loadNative() ?? nobleSecp256k1;

type Binding = typeof import('secp256k1');

function loadNative(): Secp256k1 | undefined {
  let binding: Binding;
  try {
    // The bare package name falls back to a slow JavaScript curve silently; this path has only the native one.
    binding = createRequire(import.meta.url)('secp256k1/bindings') as Binding;
  } catch {
    return undefined;
  }
  return {
    implementation: 'native',
    sign(digest32, key32) {
      if (!binding.privateKeyVerify(key32)) throw new RangeError('secp256k1 private key is not in 1 .. n-1');
      const { signature, recid } = binding.ecdsaSign(digest32, key32);
      // 2 and 3 mean that the nonce point's x is between n and p, once in 2^127 signatures.
      assert(recid === 0 || recid === 1);
      return { signature, recovery: recid };
    },
    recover(digest32, signature64, recovery, out65) {
      try {
        return binding.ecdsaRecover(signature64, recovery, digest32, false, out65);
      } catch {
        return undefined;
      }
    },
    publicKey(key32) {
      if (!binding.privateKeyVerify(key32)) throw new RangeError('secp256k1 private key is not in 1 .. n-1');
      return binding.publicKeyCreate(key32, false);
    },
  };
}
