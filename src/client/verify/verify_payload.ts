import { MARKET_CLOSED, MARKET_STATUS_CODES, NO_SCHEDULE } from '../../wire/market_status_codes.js';
import { bytesInteger } from './bytes.js';
import { type Check, CheckList, type PassedVerdict, requireSigners, type Signers } from './checks.js';
import { decodePayload, type Payload } from './decode_payload.js';
import { checksumAddress, type EvmSignature, recoverAddress, signatureFault } from './evm_signatures.js';
import { keccak256 } from './keccak_sponge.js';

/** The facts that the reader knows beforehand. A check that needs an unknown fact is skipped. */
export interface PayloadExpectations<S extends Signers> {
  /** The addresses whose keys may sign the stream, or `'unchecked'`. */
  readonly signers: S;
  /** The ID of the taxonomy to which the payload must belong. Default: none; then the taxonomy is not checked. */
  readonly taxonomyId?: number | undefined;
}

/** The report on a payload. */
export type PayloadReport<S extends Signers = Signers> =
  | {
      /** The verdict: `verified`, `recovered` or `failed`. */
      readonly verdict: PassedVerdict<S>;
      /** The checks, in the order in which they were made. */
      readonly checks: readonly Check[];
      /** The decoded payload; absent when the hex has no readable form. */
      readonly payload: Payload;
      /** The checksummed address that was recovered from the signature; absent when no address could be recovered. */
      readonly signer: string;
    }
  | {
      readonly verdict: 'failed';
      readonly checks: readonly Check[];
      readonly payload?: Payload;
      readonly signer?: string;
    };

/**
 * Decodes a `signed_ecdsa` payload (hex, with or without `0x`) and checks everything that its bytes can prove.
 * @returns a report, which is `verified` only when one of the named signers signed the payload
 * @throws RangeError or TypeError when `signers` is empty or contains anything except addresses
 */
export function verifyPayload<const S extends Signers>(
  hex: string,
  expected: PayloadExpectations<S>,
): PayloadReport<S> {
  requireSigners(expected.signers);
  const list = new CheckList(expected.signers);
  const { checks } = list;
  const payload = decodePayload(hex);
  if ('check' in payload) {
    list.expect(payload.check, false, payload.reason);
    return { verdict: 'failed', checks };
  }
  for (const name of ['form', 'version', 'mask', 'length']) {
    if (payload.layout === 'versioned' || name === 'form' || name === 'length') list.expect(name, true, '');
    else list.skip(name, 'the simplified layout has none');
  }
  checkContent(list, payload, expected.taxonomyId);
  const signer = checkSignature(list, payload.signature, keccak256(payload.body));
  if (signer === undefined) return { verdict: 'failed', checks, payload };
  const verdict = list.passedVerdict;
  return verdict === undefined
    ? { verdict: 'failed', checks, payload, signer }
    : { verdict, checks, payload, signer };
}

function checkContent(
  list: CheckList<Signers>,
  { taxonomyId, assets }: Payload,
  expectedTaxonomyId: number | undefined,
): void {
  if (expectedTaxonomyId === undefined) list.skip('taxonomy', 'no taxonomy ID was given to compare with');
  else {
    const reason = `the taxonomy ID is ${taxonomyId}, not ${expectedTaxonomyId}`;
    list.expect('taxonomy', taxonomyId === expectedTaxonomyId, reason);
  }
  const ascending = assets.every(({ id }, i) => i === 0 || assets[i - 1]!.id < id);
  list.expect('assets', ascending, 'the asset IDs do not ascend');
  const known = assets.every(({ marketStatus }) => isMarketStatus(marketStatus ?? MARKET_CLOSED));
  list.expect(
    'market status',
    known,
    `a market status is not ${MARKET_STATUS_CODES.join(', ')} or ${NO_SCHEDULE}`,
  );
}

function isMarketStatus(code: number): boolean {
  return (MARKET_STATUS_CODES as readonly number[]).includes(code);
}

/** Checks a signature over `digest`. @returns the address that signed; `undefined` if no address could be recovered */
export function checkSignature(
  list: CheckList<Signers>,
  signature: EvmSignature,
  digest: Uint8Array,
): string | undefined {
  const fault = signatureFault(signature);
  if (!list.expect('signature range', fault !== 'out of range', 'r or s is outside 1..n-1')) return undefined;
  list.expect('low s', fault === undefined, 's is in the upper half: a second form of the same signature');
  const address = recoverAddress(digest, signature);
  const signer = address && checksumAddress(address);
  list.expect('recovery', address !== undefined, 'no key fits the signature');
  list.expectSigner('signer', address && bytesInteger(address), signer ?? 'nobody');
  return signer;
}
