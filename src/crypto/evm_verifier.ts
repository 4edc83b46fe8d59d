import assert from 'node:assert/strict';
import { isCanonicalSignature, isHashSignedBy, writtenEip191 } from './evm.js';
import { type EvmSigner, evmSigner } from './evm_signers.js';
import { secp256k1 } from './secp256k1/secp256k1.js';
import type { SignatureVerdict } from './verdict.js';
import { BATCH_MAX, EcdsaBatch } from './wasm/ecdsa_batch.js';

/** A publisher's EVM signature that must be verified. The caller has recomputed the message hash. */
export interface EvmVerifyJob {
  /** The message hash before EIP-191: 32 bytes. */
  readonly msgHash: Uint8Array;
  /** r and then s: 64 bytes. */
  readonly signature: Uint8Array;
  readonly recovery: 0 | 1;
  /** The address that the publisher declares: 20 bytes. */
  readonly address: Uint8Array;
}

/** The largest number of signers with a table. All tables take 19 MB of memory. */
const KEYS_MAX = 64;
// A batch has room for one signature of each signer that has a table.
assert.equal(KEYS_MAX, BATCH_MAX);

/**
 * The number of single signatures after which a signer gets a table. Without a native library, the verification of a single signature
 * takes as long as making a table.
 */
const SIGNATURES_BEFORE_TABLE = secp256k1.implementation === 'noble' ? 1 : 100;

/** The number of later signatures after which an idle signer may lose its table. This number is larger than a batch. */
const SIGNATURES_BEFORE_LOSS = 100_000;

interface KeyTable {
  signer: EvmSigner;
  usedAt: number;
}

/**
 * Verifies signatures of EVM signers. The signatures of frequent signers are verified in an {@link EcdsaBatch}. All other
 * signatures are verified one at a time. Signatures that a batch reports as invalid are also verified again, one at a time.
 */
export class EvmVerifier {
  readonly #tables: KeyTable[] = [];
  readonly #keys = new Map<EvmSigner, number>();
  readonly #signatures = new WeakMap<EvmSigner, number>();
  readonly #batch = new EcdsaBatch(KEYS_MAX);
  #seen = 0;

  verify(jobs: readonly EvmVerifyJob[]): SignatureVerdict[] {
    // The batch may still have signatures from the last call, after an exception.
    this.#batch.clear();
    const verdicts = new Array<SignatureVerdict>(jobs.length);
    const batched: number[] = [];
    for (let i = 0; i < jobs.length; i++) {
      const job = jobs[i]!;
      const key = isCanonicalSignature(job.signature) ? this.#keyOf(job.address) : undefined;
      if (key === undefined) {
        verdicts[i] = verifyAlone(job);
        continue;
      }
      this.#batch.add(key, writtenEip191(job.msgHash), job.signature, job.recovery);
      batched.push(i);
      if (batched.length === BATCH_MAX) this.#verifyBatch(jobs, batched, verdicts);
    }
    this.#verifyBatch(jobs, batched, verdicts);
    return verdicts;
  }

  /** Fills in the verdicts of the jobs in `batched`, and empties the list. */
  #verifyBatch(jobs: readonly EvmVerifyJob[], batched: number[], verdicts: SignatureVerdict[]): void {
    if (batched.length === 0) return;
    const answers = this.#batch.verify();
    // A batch alone never rejects a price. Each signature that the batch reports as invalid is checked again by recovering its key.
    for (const [n, i] of batched.entries()) verdicts[i] = answers[n] ? 'valid' : verifyAlone(jobs[i]!);
    batched.length = 0;
  }

  /** Returns the number of the signer's table, if the signer has a table. */
  #keyOf(address20: Uint8Array): number | undefined {
    const signer = evmSigner(address20);
    if (signer === undefined) return undefined;
    this.#seen += 1;
    let key = this.#keys.get(signer);
    if (key === undefined) {
      const signatures = (this.#signatures.get(signer) ?? 0) + 1;
      this.#signatures.set(signer, signatures);
      if (signatures < SIGNATURES_BEFORE_TABLE) return undefined;
      key = this.#giveTable(signer);
      if (key === undefined) return undefined;
    }
    this.#tables[key]!.usedAt = this.#seen;
    return key;
  }

  /** Gives the signer a free table, or else the table of the signer that has not signed for the longest time. */
  #giveTable(signer: EvmSigner): number | undefined {
    let key = this.#tables.length;
    if (key === KEYS_MAX) {
      // A table must not change while signatures of its signer wait in the batch.
      if (this.#batch.count > 0) return undefined;
      key = this.#tables.reduce(
        (oldest, { usedAt }, i) => (usedAt < this.#tables[oldest]!.usedAt ? i : oldest),
        0,
      );
      const { signer: former, usedAt } = this.#tables[key]!;
      if (this.#seen - usedAt < SIGNATURES_BEFORE_LOSS) return undefined;
      this.#keys.delete(former);
      this.#signatures.delete(former);
    }
    const isLearned = this.#batch.learn(key, signer.publicKey);
    this.#tables[key] = { signer, usedAt: isLearned ? this.#seen : Number.NEGATIVE_INFINITY };
    if (!isLearned) {
      this.#signatures.set(signer, Number.NEGATIVE_INFINITY);
      return undefined;
    }
    this.#keys.set(signer, key);
    return key;
  }
}

/** Verifies a signature without tables, which takes longer but never makes a table. */
export function verifyAlone({ address, msgHash, signature, recovery }: EvmVerifyJob): SignatureVerdict {
  return isHashSignedBy(address, msgHash, signature, recovery) ? 'valid' : 'invalid signature';
}
