import type { VerifyEd25519 } from '../../tlog/ed25519.js';
import type { LogPolicy } from '../../tlog/log_policy.js';
import { type LoggedPrice, verifyPriceProof } from '../../tlog/price_proof.js';
import { encodeRecord } from '../../tlog/price_record.js';
import type { SignatureType } from '../../wire/signatures.js';
import type { AggregateForm } from './aggregate_form.js';
import { integerBytes, utf8ToBytes } from './bytes.js';
import { keccak256 } from './keccak_sponge.js';

/** The facts of a signed price that determine its place in the log, as REST serves them. */
export interface PriceToFind {
  readonly signatureType: SignatureType;
  /** The service's address or Stark public key: `service_signed_price.public_key`. */
  readonly signer: bigint;
  /** The symbol: `asset_id`. */
  readonly symbol: string;
  /** The time of the service's signature: `timestamp` of its `timestamped_signature`. */
  readonly timeNs: bigint;
  /** The hash that the service signed: `msg_hash` of its `timestamped_signature`. */
  readonly msgHash: bigint;
}

/** The options of {@link verifyLogged}. */
export interface LogExpectations {
  /** The logs and witnesses that the reader trusts. */
  readonly policy: LogPolicy;
  /** Verifies Ed25519. Default: WebCrypto. */
  readonly verifyEd25519?: VerifyEd25519 | undefined;
}

/**
 * Verifies a proof that a public log contains a price, and that witnesses of the policy have cosigned the log. Does not verify the
 * price's own signature; `verifyAggregate` of the client verifies this signature.
 * @param proof the contents of a `.tlog-proof`
 * @returns the place of the price in the log
 * @throws TlogError that names the failed step
 */
export async function verifyLogged(
  price: PriceToFind,
  proof: string | Uint8Array,
  { policy, verifyEd25519 }: LogExpectations,
): Promise<LoggedPrice> {
  return verifyPriceProof(recordOfPrice(price), proof, policy, verifyEd25519);
}

/** Returns the facts of an aggregate that determine its place. */
export function placeOfAggregate({ assetId, signatureType, service }: AggregateForm): PriceToFind {
  const { key, timestampNs, msgHash } = service;
  return { signatureType, signer: key, symbol: assetId, timeNs: timestampNs, msgHash };
}

/** Returns the record of a price: the 105 bytes of the price in the log. */
export function recordOfPrice({ signatureType, signer, symbol, timeNs, msgHash }: PriceToFind): Uint8Array {
  return encodeRecord({
    signatureType,
    signer: integerBytes(signer, 32),
    symbolHash: keccak256(utf8ToBytes(symbol)),
    timeNs,
    msgHash: integerBytes(msgHash, 32),
  });
}
