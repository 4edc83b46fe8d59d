import type { CryptoJobs, VerifyJob } from '../crypto/pool/jobs.js';
import { type CryptoPool, ThreadHung } from '../crypto/pool/pool.js';
import { HASH_MISMATCH, type PriceClaim } from '../crypto/signatures/signature_rules.js';
import { SIGNATURE_RULES } from '../crypto/signatures/signature_table.js';
import type { SignatureVerdict } from '../crypto/verdict.js';
import type { SignatureType } from '../model/asset.js';
import type { Candidate } from './gate.js';

/** A price whose signature must be verified. */
export interface ClaimedPrice extends PriceClaim {
  /** True when the same signature of the same values was verified before. */
  readonly verified: boolean;
}

/** For each candidate, the reason for refusing its signature; `undefined` for a valid signature. */
export type Refusals = readonly (string | undefined)[];

/**
 * Checks the signatures of one message's candidates. Checks that need one hash come first. Only candidates that pass these checks
 * need curve arithmetic. Returns the result immediately when the pool did the work on this thread.
 */
export function verifyCandidates(
  candidates: readonly Candidate[],
  type: SignatureType,
  pool: CryptoPool,
): Refusals | Promise<Refusals> {
  const { refusals, jobs, places, fill } = prepare(candidates, type);
  if (jobs.length === 0) return refusals;
  const verdicts = SIGNATURE_RULES[type].verify(pool, jobs);
  return verdicts instanceof Promise ? verdicts.then(fill, refuseUnverified) : fill(verdicts);

  function refuseUnverified(error: unknown): Refusals {
    if (!(error instanceof ThreadHung)) throw error;
    for (const place of places) refusals[place] = UNVERIFIED;
    return refusals;
  }
}

/** Checks signatures like {@link verifyCandidates}, with all work on this thread. */
export function verifyHere(
  updates: readonly ClaimedPrice[],
  type: SignatureType,
  here: CryptoJobs,
): Refusals {
  const { jobs, fill } = prepare(updates, type);
  return fill(SIGNATURE_RULES[type].verifyHere(here, jobs));
}

/** Runs the checks that need one hash, and creates the jobs that need curve arithmetic. */
function prepare(updates: readonly ClaimedPrice[], type: SignatureType) {
  const refusals: (string | undefined)[] = [];
  const { priceJob } = SIGNATURE_RULES[type];
  const jobs: VerifyJob[] = [];
  const places: number[] = [];
  updates.forEach((update, place) => {
    const job = priceJob(update);
    const isRefused = typeof job === 'string';
    refusals.push(isRefused ? job : undefined);
    if (!isRefused && !update.verified) {
      jobs.push(job);
      places.push(place);
    }
  });
  const fill = (verdicts: readonly SignatureVerdict[]): Refusals => {
    verdicts.forEach((verdict, i) => {
      refusals[places[i]!] = REFUSAL_BY_VERDICT[verdict];
    });
    return refusals;
  };
  return { refusals, jobs, places, fill };
}

/** The refusal of a signature that failed curve arithmetic. */
export const BAD_SIGNATURE = 'signature is not by publisher_key over this update';
/** The refusal of a signature that was not checked. The publisher may send the update again. */
const UNVERIFIED = 'the signature could not be verified in time';
const REFUSAL_BY_VERDICT: Readonly<Record<SignatureVerdict, string | undefined>> = {
  valid: undefined,
  'hash mismatch': HASH_MISMATCH,
  'invalid signature': BAD_SIGNATURE,
};
