import { sha256 } from '../../tlog/short_sha256.js';
import { concatBytes } from './bytes.js';

const BLOCK_BYTES = 64;

/** Returns the HMAC with SHA-256 (RFC 2104), for nonces. The key has at most 64 bytes. */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES);
  block.set(key);
  const hashWith = (mask: number, bytes: Uint8Array) =>
    sha256(
      concatBytes(
        block.map((byte) => byte ^ mask),
        bytes,
      ),
    );
  return hashWith(0x5c, hashWith(0x36, message));
}
