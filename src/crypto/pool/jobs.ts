import { EvmVerifier, type EvmVerifyJob } from '../evm_verifier.js';
import { KECCAK256_BYTES } from '../keccak.js';
import { secp256k1 } from '../secp256k1/secp256k1.js';
import { Pedersen } from '../stark/pedersen.js';
import { fieldBytes, fieldNumber, type StarkMessage } from '../stark/stark.js';
import {
  type StarkClaim,
  type StarkSignatureBytes,
  StarkVerifier,
  starkSignMessage,
} from '../stark/stark_ecdsa.js';
import type { SignatureVerdict } from '../verdict.js';

/** A publisher's Stark signature that must be verified together with its hash. */
export type StarkVerifyJob = StarkClaim;

/** A signature of any type that must be verified, with the values that it covers. */
export type VerifyJob = EvmVerifyJob | StarkVerifyJob;

/** The size of an EVM signature: r and s of 32 bytes each, then the recovery number 0 or 1. s is in the lower half. */
export const EVM_SIGNATURE_BYTES = 65;
const RECOVERY_AT = EVM_SIGNATURE_BYTES - 1;

/** The jobs that a worker can do. A method for many jobs returns one result for each job, in order. */
export interface CryptoJobs {
  /** Returns `valid` or `invalid signature` for each job. A high s is invalid. */
  verifyEvm(jobs: readonly EvmVerifyJob[]): SignatureVerdict[];
  verifyStark(jobs: readonly StarkVerifyJob[]): SignatureVerdict[];
  /**
   * Signs many digests.
   * @param digests 32 bytes each, without gaps. The caller has already applied EIP-191 if required.
   * @param key 32 bytes.
   * @returns 65 bytes each, without gaps; see {@link EVM_SIGNATURE_BYTES}.
   * @throws RangeError when the key is not in 1 .. n-1.
   */
  signEvm(digests: Uint8Array, key: Uint8Array): Uint8Array;
  /** Signs one digest like {@link signEvm}. The result is valid until the next call. */
  signOneEvm(digest: Uint8Array, key: Uint8Array): Uint8Array;
  /**
   * @param key 32 bytes.
   * @throws RangeError when the key is not in 1 .. n-1.
   */
  signStark(messages: readonly StarkMessage[], key: Uint8Array): StarkSignatureBytes[];
  /** Returns the hash of a message, for a signature without a declared hash: 32 bytes. */
  hashStark(message: StarkMessage): Buffer;
}

/** Creates an object that works on the calling thread. Each object has its own caches of Stark assets and keys. */
export function createCryptoJobs(): CryptoJobs {
  const pedersen = new Pedersen();
  /** The verifier, made at the first use. Making the verifier takes 50 ms and 19 MB, and some threads verify no prices. */
  let evmVerifier: EvmVerifier | undefined;
  const starkVerifier = new StarkVerifier(pedersen);
  const signed = new Uint8Array(EVM_SIGNATURE_BYTES);
  const signedRS = signed.subarray(0, RECOVERY_AT);
  const oneDigest = new Uint8Array(KECCAK256_BYTES);

  function signOneEvm(digest: Uint8Array, key: Uint8Array): Uint8Array {
    signed[RECOVERY_AT] = secp256k1.sign(digest, key, signedRS).recovery;
    return signed;
  }

  return {
    verifyEvm(jobs) {
      evmVerifier ??= new EvmVerifier();
      return evmVerifier.verify(jobs);
    },
    verifyStark(jobs) {
      return jobs.map((job) => starkVerifier.verify(job));
    },
    signEvm(digests, key) {
      const count = digests.length / KECCAK256_BYTES;
      // The memory is not from Node's pool, because an aggregate that is kept would keep 8 KiB of the pool.
      const signatures = new Uint8Array(count * EVM_SIGNATURE_BYTES);
      for (let i = 0; i < count; i++) {
        // Copying takes less time than a view of each digest.
        for (let at = 0; at < KECCAK256_BYTES; at++) oneDigest[at] = digests[i * KECCAK256_BYTES + at]!;
        signatures.set(signOneEvm(oneDigest, key), i * EVM_SIGNATURE_BYTES);
      }
      return signatures;
    },
    signOneEvm,
    signStark(messages, key) {
      const keyNumber = fieldNumber(key);
      return messages.map((message) => starkSignMessage(pedersen, message, keyNumber));
    },
    hashStark({ x, y }) {
      return fieldBytes(pedersen.hash(fieldNumber(x), fieldNumber(y)));
    },
  };
}
