import { instantText } from '../../model/instant.js';
import type { AggregationType } from '../../wire/algorithms.js';
import type { SignatureType } from '../../wire/signatures.js';
import { type AggregateForm, readAggregate } from '../verify/aggregate_form.js';
import { parseExactJson } from '../verify/exact_json.js';
import { keyText } from '../verify/number_text.js';
import { verifyAggregate } from '../verify/verify_aggregate.js';
import { type AggregateReport, formFault, formOf } from '../verify/verify_signed_price.js';

export const PROOF_WORKER_NAME = 'proof';

/** The contents of a proof of an aggregate. Every price is exact. */
export interface ProofContent {
  readonly price: bigint;
  readonly signer: string;
  readonly signedAtNs: bigint;
  readonly merkleRoot: string;
  readonly algorithm: AggregationType;
  /** The algorithm's definition, if the service has sent it. */
  readonly algorithmText: string | undefined;
  readonly publishers: readonly {
    readonly key: string;
    readonly signatureType: SignatureType;
    readonly price: bigint;
    readonly timestampNs: bigint;
  }[];
}

/** The facts that are known before the check. */
export interface ProofExpectations {
  /** The keys whose signatures are accepted. */
  readonly signers: readonly string[];
  readonly oracleId: string | undefined;
  /** The definition of each algorithm. */
  readonly algorithms: ReadonlyMap<string, string>;
  /** The past instant at which the aggregate was the newest aggregate; `undefined` for the present. */
  readonly atNs: bigint | undefined;
}

/** The message to the worker that verifies. */
export interface ProofRequest extends ProofExpectations {
  /** The JSON text of an answer of `/v1/prices/latest` or `/v1/prices/at`. */
  readonly answer: string;
  readonly symbol: string;
}

/** An aggregate and the results of its checks. The content is absent if the aggregate is unreadable. */
export interface Proof {
  readonly content: ProofContent | undefined;
  readonly report: AggregateReport<readonly string[]>;
}

/**
 * Reads and verifies the aggregate of a symbol in an answer of `/v1/prices/latest` or `/v1/prices/at`, and ignores other
 * symbols. An aggregate of the past may lack its inputs, and its algorithm may have a definition that is not in use now.
 * @returns `undefined` when the asset has no price.
 */
export function proofOf(
  answer: string,
  symbol: string,
  { signers, oracleId, algorithms, atNs }: ProofExpectations,
): Proof | undefined {
  const { data } = (parseExactJson(answer) ?? {}) as { data?: Record<string, unknown> };
  const value = data?.[symbol];
  if (value === undefined) return undefined;
  const form = formOf(value, (one) => readAggregate(one));
  if (typeof form === 'string') return { content: undefined, report: formFault(form) };
  const algorithmText = algorithms.get(form.service.algorithm);
  const expected =
    atNs === undefined
      ? { signers, oracleId, algorithmText, inputs: 'required' as const }
      : { signers, oracleId, knownAlgorithms: [...algorithms.values()] };
  const [report] = verifyAggregate({ data: { [symbol]: value } }, expected);
  const isDefined = report!.checks.some(({ name, status }) => name === 'checksum' && status === 'ok');
  const content = contentOf(form, atNs === undefined || isDefined ? algorithmText : undefined);
  return { content, report: atNs === undefined ? report! : checkInstant(report!, content, atNs) };
}

/** Checks that an aggregate had been signed by an instant. */
function checkInstant(report: Proof['report'], { signedAtNs }: ProofContent, atNs: bigint): Proof['report'] {
  const name = 'signed before the instant';
  const checks = report.checks;
  if (signedAtNs <= atNs) return { ...report, checks: [...checks, { name, status: 'ok' }] };
  const reason = `it was signed at ${instantText(signedAtNs)}`;
  return { ...report, verdict: 'failed', checks: [...checks, { name, status: 'failed', reason }] };
}

function contentOf(
  { price, service, publishers, signatureType }: AggregateForm,
  algorithmText: string | undefined,
): ProofContent {
  return {
    price,
    signer: keyText(service.key, signatureType === 'evm'),
    signedAtNs: service.timestampNs,
    merkleRoot: `0x${service.merkleRoot.toString(16).padStart(64, '0')}`,
    algorithm: service.algorithm,
    algorithmText,
    publishers: (publishers ?? []).map(({ key, signatureType: type, price: theirs, timestampNs }) => ({
      key: keyText(key, type === 'evm'),
      signatureType: type,
      price: theirs,
      timestampNs,
    })),
  };
}
