import { NotVerified } from '../../edge/kept_verifier.js';

/** The bytes of a block, not verified. Its aggregates before `fromNs` and from `toNs` on are not part of the range. */
export interface PackedBlock {
  readonly bytes: Uint8Array;
  readonly fromNs: bigint;
  readonly toNs: bigint;
  /** The number of aggregates in the range, at least 1. */
  readonly rows: number;
}

/** Returns the error for bytes that are not a block. */
export function notPast(error: unknown): NotVerified {
  if (error instanceof NotVerified) return error;
  return new NotVerified(`the answer is not a past: ${(error as Error).message}`);
}
