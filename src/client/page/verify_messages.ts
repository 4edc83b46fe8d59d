import type { PayloadReport } from '../verify/verify_payload.js';
import type { Proof, ProofExpectations } from './proof.js';

// What the page and its worker say to each other.

export type VerifyRequest = PayloadRequest | AggregateRequest;

export interface PayloadRequest {
  readonly kind: 'payload';
  readonly hex: string;
  readonly signers: readonly string[];
  readonly taxonomyId: number;
}

export interface AggregateRequest extends ProofExpectations {
  readonly kind: 'aggregate';
  /** The JSON text of an answer of `/v1/prices/latest`. */
  readonly answer: string;
  readonly symbol: string;
}

/** Answers by the kind of their request. */
export interface VerifyReports {
  readonly payload: PayloadReport<readonly string[]>;
  readonly aggregate: Proof | undefined;
}

/** A request on its way to the worker, and what comes back under the same number. */
export interface Numbered<T> {
  readonly number: number;
  readonly content: T;
}
