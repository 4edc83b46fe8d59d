import { createHash, randomBytes } from 'node:crypto';

/** Bytes of randomness in a token: 256 bits cannot be guessed, so a plain hash of it needs no salt. */
const TOKEN_BYTES = 32;

/** A fresh random access token: 43 characters of base64url. */
export function createToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** The 32 bytes by which the configuration knows a token: the SHA-256 of its text in UTF-8. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}
