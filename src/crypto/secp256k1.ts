import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { nobleSecp256k1 } from './secp256k1_noble.js';
import type { Secp256k1 } from './secp256k1_operations.js';

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
