import { isCanonicalSignature, isEvmPriceHash } from '../crypto/evm.js';
import type { EvmVerifyJob } from '../crypto/evm_verifier.js';
import type { StarkVerifyJob } from '../crypto/pool/jobs.js';
import { starkExternalAssetId, starkPriceMessage } from '../crypto/stark/stark.js';
import type { ListedPublisher, SignatureType } from '../model/asset.js';
import { parseHex } from '../model/hex.js';
import type { Candidate } from './gate.js';

/** The parts of an update that its signature covers, and the signature. */
export interface SignedFields
  extends Pick<Candidate, 'price' | 'timestampNs' | 'msgHash' | 'signature' | 'recovery' | 'verified'> {
  readonly raw: Pick<Candidate['raw'], 'externalAssetId'>;
  readonly asset: { readonly symbol: string };
  readonly publisher: Pick<ListedPublisher, 'key' | 'oracleId'>;
}

export const HASH_MISMATCH = 'msg_hash does not match the asset, time and price';

/** Makes the checks that need one hash. @returns the job that needs curve arithmetic, or the reason for a refusal */
export function signatureJob(
  fields: SignedFields,
  type: SignatureType,
): EvmVerifyJob | StarkVerifyJob | string {
  return type === 'evm' ? evmJob(fields) : starkJob(fields);
}

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
