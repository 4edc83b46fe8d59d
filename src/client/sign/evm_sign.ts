import * as secp256k1 from '@noble/secp256k1';
import type { EvmSignature } from '../verify/evm_signatures.js';
import { hmacSha256 } from '../verify/hmac_sha256.js';

// The library contains no hash functions. Only the nonces need one, so it is set here once for the whole program.
secp256k1.hashes.hmacSha256 = hmacSha256 as typeof secp256k1.hashes.hmacSha256;

/** Signs a 32-byte digest with an RFC 6979 nonce. The `s` of the signature is low. */
export function signDigest(digest: Uint8Array, secretKey: Uint8Array): EvmSignature {
  const bytes = secp256k1.sign(digest, secretKey, { prehash: false, format: 'recovered' });
  const { r, s, recovery } = secp256k1.Signature.fromBytes(bytes, 'recovered');
  return { r, s, recovery: recovery as 0 | 1 };
}
