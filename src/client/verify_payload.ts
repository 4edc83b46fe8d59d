import { MARKET_CLOSED, MARKET_STATUS_CODES, NO_SCHEDULE } from '../wire/market_status.js';
import { parseHexInteger } from './bytes.js';
import { type Check, CheckList } from './checks.js';
import { checksumAddress, isAddress, keccak256, recoverAddress, signatureFault } from './evm.js';
import { decodePayload, type Payload } from './payload.js';

/** What the reader knows beforehand; a check of something unknown is skipped. */
export interface PayloadExpectations {
  /** The address whose key signs the stream. */
  readonly signer?: string | undefined;
  readonly taxonomyId?: number | undefined;
}

export interface PayloadReport {
  /** No check failed. */
  readonly ok: boolean;
  readonly checks: readonly Check[];
  /** Absent when the payload has no readable form. */
  readonly payload?: Payload;
  /** The checksummed address that was recovered from the signature. */
  readonly signer?: string;
}

/** Decodes a `signed_ecdsa` payload (hex, with or without `0x`) and checks everything that its bytes can tell. */
export function verifyPayload(hex: string, expected: PayloadExpectations = {}): PayloadReport {
  const list = new CheckList();
  const payload = decodePayload(hex);
  if ('check' in payload) {
    list.expect(payload.check, false, payload.reason);
    return { ok: false, checks: list.checks };
  }
  for (const name of ['form', 'version', 'mask', 'length']) {
    if (payload.layout === 'versioned' || name === 'form' || name === 'length') list.expect(name, true, '');
    else list.skip(name, 'the simplified layout has none');
  }
  checkContent(list, payload, expected);
  const signer = checkSignature(list, payload, expected);
  const report = { ok: list.ok, checks: list.checks, payload };
  return signer === undefined ? report : { ...report, signer };
}

function checkContent(list: CheckList, payload: Payload, { taxonomyId }: PayloadExpectations): void {
  const found = payload.taxonomyId;
  if (taxonomyId === undefined) list.skip('taxonomy', 'no taxonomy ID was given to compare with');
  else list.expect('taxonomy', found === taxonomyId, `the taxonomy ID is ${found}, not ${taxonomyId}`);
  const { assets } = payload;
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

function checkSignature(
  list: CheckList,
  payload: Payload,
  expected: PayloadExpectations,
): string | undefined {
  const { signature, body } = payload;
  const fault = signatureFault(signature);
  list.expect('signature range', fault !== 'out of range', 'r or s is outside 1..n-1');
  if (fault === 'out of range') return undefined;
  list.expect('low s', fault === undefined, 's is in the upper half: a second form of the same signature');
  const address = recoverAddress(keccak256(body), signature);
  list.expect('recovery', address !== undefined, 'no key fits the signature');
  if (expected.signer === undefined) {
    list.skip('signer', 'no address was given to compare with');
  } else {
    const wanted = parseHexInteger(expected.signer);
    const matches = wanted !== undefined && isAddress(address, wanted);
    list.expect(
      'signer',
      matches,
      `signed by ${address ? checksumAddress(address) : 'nobody'}, not ${expected.signer}`,
    );
  }
  return address && checksumAddress(address);
}
