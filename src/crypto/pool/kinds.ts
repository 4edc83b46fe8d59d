import type { EvmVerifyJob } from '../evm_verifier.js';
import { KECCAK256_BYTES } from '../keccak.js';
import type { StarkMessage } from '../stark/stark.js';
import type { StarkSignatureBytes } from '../stark/stark_ecdsa.js';
import type { SignatureVerdict } from '../verdict.js';
import * as batch from './batch_bytes.js';
import { type CryptoJobs, EVM_SIGNATURE_BYTES, type StarkVerifyJob } from './jobs.js';
import { arrayForm, bytesForm, type Kind } from './queued_work.js';

// The kinds of jobs of a pool. Each `jobMicros` was measured with full tables.

type ArrayKind<Job, Result> = Kind<readonly Job[], Result[]>;

export function verifyEvmKind(here: CryptoJobs): ArrayKind<EvmVerifyJob, SignatureVerdict> {
  return {
    name: 'verifyEvm',
    // The time in a batch with a known key. A single job takes 35 µs.
    jobMicros: 17,
    atOnce: 16,
    jobs: arrayForm(),
    results: arrayForm(),
    inline: (jobs) => here.verifyEvm(jobs),
    encode: batch.encodeVerifyEvm,
    decode: batch.decodeVerdicts,
  };
}

export function verifyStarkKind(here: CryptoJobs): ArrayKind<StarkVerifyJob, SignatureVerdict> {
  return {
    name: 'verifyStark',
    jobMicros: 220,
    atOnce: 1,
    jobs: arrayForm(),
    results: arrayForm(),
    inline: (jobs) => here.verifyStark(jobs),
    encode: batch.encodeVerifyStark,
    decode: batch.decodeVerdicts,
  };
}

const DIGESTS = bytesForm(KECCAK256_BYTES);
const EVM_SIGNATURES = bytesForm(EVM_SIGNATURE_BYTES);

export function signEvmKind(here: CryptoJobs, key: Uint8Array): Kind<Uint8Array, Uint8Array> {
  return {
    name: 'signEvm',
    jobMicros: 45,
    atOnce: 1,
    jobs: DIGESTS,
    results: EVM_SIGNATURES,
    inline: (digests) => here.signEvm(digests, key),
    encode: (digests) => batch.encodeSignEvm(digests, key),
    decode: (answer) => answer,
  };
}

export function signStarkKind(
  here: CryptoJobs,
  key: Uint8Array,
): ArrayKind<StarkMessage, StarkSignatureBytes> {
  return {
    name: 'signStark',
    jobMicros: 280,
    atOnce: 1,
    jobs: arrayForm(),
    results: arrayForm(),
    inline: (messages) => here.signStark(messages, key),
    encode: (messages) => batch.encodeSignStark(messages, key),
    decode: batch.decodeStarkSignatures,
  };
}
