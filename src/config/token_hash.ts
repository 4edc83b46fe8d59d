import { createHash, randomBytes } from 'node:crypto';

/** The random bytes of a token. 256 bits cannot be guessed, so the hash needs no salt. */
const TOKEN_BYTES = 32;

/** Returns a fresh random access token: 43 characters of base64url. */
export function createToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Returns the SHA-256 of a token's text in UTF-8, 32 bytes: the form in which the configuration holds a token. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}
