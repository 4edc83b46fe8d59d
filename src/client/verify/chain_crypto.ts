import type { ChainCrypto } from '../../model/announcement_chain.js';
import { bytesInteger } from './bytes.js';
import { recoverAddress, signatureFault } from './evm_signatures.js';
import { keccak256 } from './keccak_sponge.js';

/** The hash and the curve of announcements, for readers. */
export const CHAIN_CRYPTO: ChainCrypto = {
  keccak256,
  recover(digest, bytes) {
    const recovery = bytes[64];
    if (recovery !== 0 && recovery !== 1) return undefined;
    const signature = {
      r: bytesInteger(bytes.slice(0, 32)),
      s: bytesInteger(bytes.slice(32, 64)),
      recovery,
    } as const;
    return signatureFault(signature) === undefined ? recoverAddress(digest, signature) : undefined;
  },
};
