import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import * as secp256k1 from '@noble/secp256k1';
import type { EvmSignature } from '../verify/evm_signatures.js';

// The library contains no hash functions. Only signing needs hash functions, so they are set here once for the whole program.
secp256k1.hashes.sha256 = sha256;
secp256k1.hashes.hmacSha256 = (key, message) => hmac(sha256, key, message);

/** Signs a 32-byte digest with an RFC 6979 nonce. The `s` of the signature is low. */
export function signDigest(digest: Uint8Array, secretKey: Uint8Array): EvmSignature {
  const bytes = secp256k1.sign(digest, secretKey, { prehash: false, format: 'recovered' });
  const { r, s, recovery } = secp256k1.Signature.fromBytes(bytes, 'recovered');
  return { r, s, recovery: recovery as 0 | 1 };
}
