import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { Secp256k1 } from './secp256k1_operations.js';

type Binding = typeof import('secp256k1');

/**
 * Loads the libsecp256k1 of 2019 that the npm package `secp256k1` contains. Signing takes 31 µs and recovery takes 49 µs.
 * Returns `undefined` if the package has no build for this platform.
 */
export function loadNativeSecp256k1(): Secp256k1 | undefined {
  let binding: Binding;
  try {
    // The bare package name silently falls back to a slow JavaScript curve. This path loads only the native curve.
    binding = createRequire(import.meta.url)('secp256k1/bindings') as Binding;
  } catch {
    return undefined;
  }
  const signed = (digest32: Uint8Array, key32: Uint8Array, out64: Uint8Array | undefined) => {
    try {
      return binding.ecdsaSign(digest32, key32, {}, out64);
    } catch (error) {
      // The key is checked only after an error, because the library checks the key in every signature.
      if (binding.privateKeyVerify(key32)) throw error;
      throw new RangeError('secp256k1 private key is not in 1 .. n-1');
    }
  };
  return {
    implementation: 'native',
    sign(digest32, key32, out64) {
      const { signature, recid } = signed(digest32, key32, out64);
      // The values 2 and 3 mean that the nonce point's x is between n and p. This happens once in 2^127 signatures.
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
