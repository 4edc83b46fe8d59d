import { isHashSignedBy } from './evm.js';
import { Pedersen } from './pedersen.js';
import { secp256k1 } from './secp256k1.js';
import { fieldBytes, fieldNumber, type StarkMessage } from './stark.js';
import { type StarkClaim, type StarkSignature, StarkVerifier, starkSignMessage } from './stark_ecdsa.js';
import type { Verdict } from './verdict.js';

/** A publisher's EVM signature to verify. The caller has recomputed the message hash. */
export interface EvmVerifyJob {
  /** 32 bytes, before EIP-191. */
  readonly msgHash: Uint8Array;
  /** r then s: 64 bytes. */
  readonly signature: Uint8Array;
  readonly recovery: 0 | 1;
  /** The declared signer: 20 bytes. */
  readonly address: Uint8Array;
}

/** A publisher's Stark signature to verify, its hash included. */
export type StarkVerifyJob = StarkClaim;

export interface EvmSignature {
  /** 32 bytes. */
  readonly r: Uint8Array;
  /** 32 bytes, in the lower half. */
  readonly s: Uint8Array;
  readonly recovery: 0 | 1;
}

/** The work that a worker can do. Each method takes many jobs and returns a result for each, in order. */
export interface CryptoJobs {
  /** `valid` or `invalid signature`; a high s is invalid. */
  verifyEvm(jobs: readonly EvmVerifyJob[]): Verdict[];
  verifyStark(jobs: readonly StarkVerifyJob[]): Verdict[];
  /**
   * @param digests 32 bytes each, with EIP-191 already applied where it is required.
   * @param key 32 bytes.
   * @throws RangeError when the key is not in 1 .. n-1.
   */
  signEvm(digests: readonly Uint8Array[], key: Uint8Array): EvmSignature[];
  /**
   * @param key 32 bytes.
   * @throws RangeError when the key is not in 1 .. n-1.
   */
  signStark(messages: readonly StarkMessage[], key: Uint8Array): StarkSignature[];
  /** The hash of a message that a signature over it comes without: 32 bytes. */
  hashStark(message: StarkMessage): Buffer;
}

/** Does the work on the calling thread. Each object has its own caches of Stark assets and keys. */
export function createCryptoJobs(): CryptoJobs {
  const pedersen = new Pedersen();
  const starkVerifier = new StarkVerifier(pedersen);
  return {
    verifyEvm(jobs) {
      return jobs.map((job) =>
        isHashSignedBy(job.address, job.msgHash, job.signature, job.recovery) ? 'valid' : 'invalid signature',
      );
    },
    verifyStark(jobs) {
      return jobs.map((job) => starkVerifier.verify(job));
    },
    signEvm(digests, key) {
      return digests.map((digest) => {
        const { signature, recovery } = secp256k1.sign(digest, key);
        return { r: signature.subarray(0, 32), s: signature.subarray(32, 64), recovery };
      });
    },
    signStark(messages, key) {
      const keyNumber = fieldNumber(key);
      return messages.map((message) => starkSignMessage(pedersen, message, keyNumber));
    },
    hashStark({ x, y }) {
      return fieldBytes(pedersen.hash(fieldNumber(x), fieldNumber(y)));
    },
  };
}
