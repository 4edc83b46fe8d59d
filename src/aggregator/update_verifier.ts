import { isCanonicalSignature, isEvmPriceHash } from '../crypto/evm.js';
import type { CryptoJobs } from '../crypto/pool/jobs.js';
import { type CryptoPool, type EvmVerifyJob, type StarkVerifyJob, ThreadHung } from '../crypto/pool/pool.js';
import { starkExternalAssetId, starkPriceMessage } from '../crypto/stark/stark.js';
import type { SignatureVerdict } from '../crypto/verdict.js';
import type { Candidate } from '../ingest/gate.js';
import type { ListedPublisher, SignatureType } from '../model/asset.js';
import { parseHex } from '../model/hex.js';

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
  const verdicts =
    type === 'evm' ? pool.verifyEvm(jobs as EvmVerifyJob[]) : pool.verifyStark(jobs as StarkVerifyJob[]);
  return verdicts instanceof Promise ? verdicts.then(fill, giveUp) : fill(verdicts);

  function giveUp(error: unknown): Refusals {
    if (!(error instanceof ThreadHung)) throw error;
    for (const place of places) refusals[place] = UNVERIFIED;
    return refusals;
  }
}

/** The parts of an update that its signature covers, and the signature. */
export interface SignedFields
  extends Pick<Candidate, 'price' | 'timestampNs' | 'msgHash' | 'signature' | 'recovery' | 'verified'> {
  readonly raw: Pick<Candidate['raw'], 'externalAssetId'>;
  readonly asset: { readonly symbol: string };
  readonly publisher: Pick<ListedPublisher, 'key' | 'oracleId'>;
}

/** Checks signatures like {@link verifyCandidates}, with all work on this thread. */
export function verifyHere(
  updates: readonly SignedFields[],
  type: SignatureType,
  here: CryptoJobs,
): Refusals {
  const { jobs, fill } = prepare(updates, type);
  return fill(
    type === 'evm' ? here.verifyEvm(jobs as EvmVerifyJob[]) : here.verifyStark(jobs as StarkVerifyJob[]),
  );
}

/** Runs the checks that need one hash, and creates the jobs that need curve arithmetic. */
function prepare(updates: readonly SignedFields[], type: SignatureType) {
  const refusals: (string | undefined)[] = new Array(updates.length).fill(undefined);
  const jobs: (EvmVerifyJob | StarkVerifyJob)[] = [];
  const places: number[] = [];
  updates.forEach((update, place) => {
    const job = type === 'evm' ? evmJob(update) : starkJob(update);
    if (typeof job === 'string') {
      refusals[place] = job;
    } else if (!update.verified) {
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

const HASH_MISMATCH = 'msg_hash does not match the asset, time and price';
/** The refusal of a signature that failed curve arithmetic. */
export const BAD_SIGNATURE = 'signature is not by publisher_key over this update';
/** The refusal of a signature that was not checked. The publisher may send the update again. */
const UNVERIFIED = 'the signature could not be verified in time';
const REFUSAL_BY_VERDICT: Readonly<Record<SignatureVerdict, string | undefined>> = {
  valid: undefined,
  'hash mismatch': HASH_MISMATCH,
  'invalid signature': BAD_SIGNATURE,
};

function evmJob(candidate: SignedFields): EvmVerifyJob | string {
  const { publisher, asset, timestampNs, price, msgHash, signature, recovery } = candidate;
  if (!isEvmPriceHash(msgHash, publisher.key, asset.symbol, timestampNs, price)) return HASH_MISMATCH;
  if (!isCanonicalSignature(signature)) return 'signature r or s is out of range, or s is not low';
  return { msgHash, signature, recovery, address: publisher.key };
}

/**
 * Creates the verification job, or returns the reason for a refusal. The pool also recomputes the Pedersen hash, because the hash costs
 * as much as a curve operation.
 */
function starkJob(candidate: SignedFields): StarkVerifyJob | string {
  const { raw, publisher, asset, timestampNs, price, msgHash, signature } = candidate;
  const oracleId = oracleIdOf(raw.externalAssetId);
  if (publisher.oracleId !== undefined && publisher.oracleId !== oracleId)
    return 'external_asset_id names another oracle than the publisher is configured with';
  const expected = starkExternalAssetId(asset.symbol, oracleId);
  const declared = parseHex(raw.externalAssetId, 32);
  if (expected === undefined || declared === undefined || !parseHex(expected, 32)!.equals(declared))
    return 'external_asset_id names another asset';
  const message = starkPriceMessage(asset.symbol, oracleId, timestampNs, price);
  if (message === undefined) return 'the price or asset ID is too large for a Stark signature';
  return {
    ...message,
    msgHash,
    r: signature.subarray(0, 32),
    s: signature.subarray(32),
    publicKey: publisher.key,
  };
}

/** Returns the five characters at the end of a Stark `external_asset_id`. */
function oracleIdOf(externalAssetId: string): string {
  return Buffer.from(externalAssetId.slice(-10), 'hex').toString('latin1');
}
