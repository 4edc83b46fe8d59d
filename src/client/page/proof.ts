import type { AggregationType, SignatureType } from '../../wire/signatures.js';
import { readAggregate } from '../aggregate_form.js';
import type { Check } from '../checks.js';
import { parseExactJson } from '../exact_json.js';
import { keyText } from '../number_text.js';

/** What a proof shows of an aggregate; every price is exact. */
export interface ProofContent {
  readonly price: bigint;
  readonly signer: string;
  readonly signedAtNs: bigint;
  readonly merkleRoot: string;
  readonly algorithm: AggregationType;
  readonly publishers: readonly {
    readonly key: string;
    readonly signatureType: SignatureType;
    readonly price: bigint;
    readonly timestampNs: bigint;
  }[];
}

/**
 * Reads the aggregate of one symbol from an answer of `/v1/prices/latest`.
 * @returns `undefined` when the asset has no live price.
 * @throws FormError when it has another form than `/docs` describes.
 */
export function readProof(answer: string, symbol: string): ProofContent | undefined {
  const { data } = (parseExactJson(answer) ?? {}) as { data?: Record<string, unknown> };
  const value = data?.[symbol];
  if (value === undefined) return undefined;
  const { price, service, publishers, signatureType } = readAggregate(value);
  return {
    price,
    signer: keyText(service.key, signatureType === 'evm'),
    signedAtNs: service.timestampNs,
    merkleRoot: `0x${service.merkleRoot.toString(16).padStart(64, '0')}`,
    algorithm: service.algorithm,
    publishers: publishers.map(({ key, signatureType: type, price: theirs, timestampNs }) => ({
      key: keyText(key, type === 'evm'),
      signatureType: type,
      price: theirs,
      timestampNs,
    })),
  };
}

const PUBLISHER_CHECK = /^signed_prices\[(\d+)\] (.*)$/;

/** The checks of one publisher's price, in the order of the publishers, and all other checks. */
export function sortChecks(checks: readonly Check[]): {
  readonly byPublisher: ReadonlyMap<number, readonly Check[]>;
  readonly others: readonly Check[];
} {
  const byPublisher = new Map<number, Check[]>();
  const others: Check[] = [];
  for (const check of checks) {
    const place = PUBLISHER_CHECK.exec(check.name)?.[1];
    if (place === undefined) others.push(check);
    else byPublisher.set(Number(place), [...(byPublisher.get(Number(place)) ?? []), check]);
  }
  return { byPublisher, others };
}
