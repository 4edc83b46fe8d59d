import assert from 'node:assert/strict';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import * as noble from '@noble/secp256k1';
import type { Secp256k1 } from './secp256k1_operations.js';

// Noble's synchronous signing requires these two hashes.
noble.hashes.sha256 = (message) => sha256(message);
noble.hashes.hmacSha256 = (key, message) => hmac(sha256, key, message);

/**
 * The curve in plain JavaScript. This curve is used on platforms without a build of libsecp256k1, and as the
 * reference in tests.
 */
export const nobleSecp256k1: Secp256k1 = {
  implementation: 'noble',
  sign(digest32, key32, out64 = new Uint8Array(64)) {
    refuseInvalidKey(key32);
    const recovered = noble.sign(digest32, key32, { prehash: false, format: 'recovered' });
    const recovery = recovered[0];
    assert(recovery === 0 || recovery === 1);
    out64.set(recovered.subarray(1));
    return { signature: out64, recovery };
  },
  recover(digest32, signature64, recovery, out65 = new Uint8Array(65)) {
    const recovered = new Uint8Array(65);
    recovered[0] = recovery;
    recovered.set(signature64, 1);
    try {
      out65.set(noble.recoverPublicKey(recovered, digest32, { prehash: false, isCompressed: false }));
      return out65;
    } catch {
      return undefined;
    }
  },
  publicKey(key32) {
    refuseInvalidKey(key32);
    return noble.getPublicKey(key32, false);
  },
};

function refuseInvalidKey(key32: Uint8Array): void {
  if (!noble.utils.isValidSecretKey(key32)) throw new RangeError('secp256k1 private key is not in 1 .. n-1');
}
