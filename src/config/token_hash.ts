import { createHash, randomBytes } from 'node:crypto';

/** The number of random bytes in a token. Nobody can guess 256 bits, so the hash needs no salt. */
const TOKEN_BYTES = 32;

/** Returns a new random access token: 43 characters of base64url. */
export function createToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/**
 * Returns the SHA-256 of a token's text in UTF-8, 32 bytes. The configuration contains this hash instead of the
 * token.
 */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}
