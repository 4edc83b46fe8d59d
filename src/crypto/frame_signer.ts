import type { CryptoPool } from './pool/pool.js';

/** Signs the Keccak digests of streaming payloads, without the prefix of EIP-191. */
export interface FrameSigner {
  /**
   * Signs a digest immediately.
   * @returns r, s and the recovery number in the form of a payload: 65 bytes, valid until the next call.
   */
  signOne(digest: Uint8Array): Uint8Array;
  /**
   * Signs a few digests immediately, or many digests on other threads.
   * @param digests 32 bytes each, without gaps; must not change until they are signed.
   * @returns the signatures, without gaps.
   */
  sign(digests: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/** @param key returns the current key, which changes with time and with reloads */
export function createFrameSigner(
  key: () => Buffer,
  pool: Pick<CryptoPool, 'here' | 'signEvm'>,
): FrameSigner {
  return {
    signOne: (digest) => pool.here.signOneEvm(digest, key()),
    sign: (digests) => pool.signEvm(digests, key()),
  };
}
