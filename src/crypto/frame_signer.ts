import type { CryptoPool } from './pool.js';
import { secp256k1 } from './secp256k1.js';

/** The signature of a streaming payload: `r` and `s` of 32 bytes, and which of the two possible keys it recovers to. */
export interface FrameSignature {
  readonly r: Uint8Array;
  readonly s: Uint8Array;
  readonly recovery: 0 | 1;
}

/** Signs streaming payloads: their Keccak digests, without the prefix of EIP-191. */
export interface FrameSigner {
  /** Signs at once. */
  signOne(digest: Uint8Array): FrameSignature;
  /** Signs at once where there are few, and on other threads where there are many. */
  sign(digests: readonly Uint8Array[]): readonly FrameSignature[] | Promise<readonly FrameSignature[]>;
}

/** @param key gives the key in force, which a reload may change */
export function createFrameSigner(key: () => Buffer, pool: Pick<CryptoPool, 'signEvm'>): FrameSigner {
  return {
    signOne(digest) {
      const { signature, recovery } = secp256k1.sign(digest, key());
      return { r: signature.subarray(0, 32), s: signature.subarray(32), recovery };
    },
    sign: (digests) => pool.signEvm(digests, key()),
  };
}
