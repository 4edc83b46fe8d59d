import { TlogError } from './tlog_error.js';
import type { VerifierKey } from './verifier_key.js';

/** Verifies an Ed25519 signature: 32 bytes of key, 64 bytes of signature. */
export interface VerifyEd25519 {
  (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean | Promise<boolean>;
  /**
   * Verifies the ML-DSA-44 cosignature of a checkpoint's text. Without this function, the cosignatures of such keys do not count.
   * @param blob the time and the signature
   * @returns the time of the cosignature in UNIX seconds
   * @throws TlogError when the cosignature is invalid
   */
  readonly mlDsa44?: (key: VerifierKey, text: string, blob: Uint8Array) => bigint | Promise<bigint>;
}

/**
 * Verifies with WebCrypto. Chrome 137, Firefox 129, Safari 17 and Node support Ed25519.
 * @throws TlogError if WebCrypto does not support Ed25519, or is absent because the page was not loaded over HTTPS
 */
export const verifyByWebCrypto: VerifyEd25519 = async (publicKey, message, signature) => {
  try {
    const { subtle } = crypto;
    const key = await subtle.importKey('raw', new Uint8Array(publicKey), 'Ed25519', false, ['verify']);
    return await subtle.verify('Ed25519', key, new Uint8Array(signature), new Uint8Array(message));
  } catch (error) {
    throw new TlogError(`WebCrypto has no Ed25519 here: ${(error as Error).message}`);
  }
};
