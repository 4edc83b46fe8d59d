import {
  type AggregateForm,
  type AggregateReport,
  parseExactJson,
  readAggregate,
  verifyAggregate,
} from '../index.js';
import { momentText } from './price_text.js';

export const PROOF_WORKER_NAME = 'proof';

/** The message to the worker that verifies. */
export interface ProofRequest {
  /** The JSON text of an answer of `/v1/prices/latest` or `/v1/prices/at`. */
  readonly answer: string;
  readonly symbol: string;
  /** The keys whose signatures are accepted. */
  readonly signers: readonly string[];
  readonly oracleId: string | undefined;
  /** The definition of each algorithm. */
  readonly algorithms: ReadonlyMap<string, string>;
  /** The past instant at which the aggregate was the newest aggregate; `undefined` for the present. */
  readonly atNs: bigint | undefined;
}

/** An aggregate and the results of its checks. */
export interface Proof {
  /** The aggregate as it was read; `undefined` if it is unreadable. */
  readonly form: AggregateForm | undefined;
  /** The definition of its algorithm, if the service has sent it. */
  readonly algorithmText: string | undefined;
  readonly report: AggregateReport<readonly string[]>;
}

/** An aggregate that was verified, with the request to the verifier. */
export interface ProvenAggregate {
  readonly request: ProofRequest;
  readonly proof: Proof;
}

/**
 * Reads and verifies the aggregate of the symbol, and ignores other symbols. An aggregate of the past may lack its inputs, and its
 * algorithm may have a definition that is not in use now.
 * @returns `undefined` when the asset has no price.
 */
export function proofOf(request: ProofRequest): Proof | undefined {
  const { answer, symbol, signers, oracleId, algorithms, atNs } = request;
  const { data } = (parseExactJson(answer) ?? {}) as { data?: Record<string, unknown> };
  const value = data?.[symbol];
  if (value === undefined) return undefined;
  const form = formIn(value);
  const algorithmText = form && algorithms.get(form.service.algorithm);
  const expected =
    atNs === undefined
      ? { signers, oracleId, algorithmText, inputs: 'required' as const }
      : { signers, oracleId, knownAlgorithms: [...algorithms.values()] };
  const report = verifyAggregate({ data: { [symbol]: value } }, expected)[0]!;
  const isDefined = report.checks.some(({ name, status }) => name === 'checksum' && status === 'ok');
  return {
    form,
    algorithmText: atNs === undefined || isDefined ? algorithmText : undefined,
    report: atNs === undefined || form === undefined ? report : checkInstant(report, form, atNs),
  };
}

/** Reads an aggregate; `undefined` for a value of another form, which fails the check of the form. */
function formIn(value: unknown): AggregateForm | undefined {
  try {
    return readAggregate(value);
  } catch {
    return undefined;
  }
}

/** Checks that an aggregate had been signed by an instant. */
function checkInstant(report: Proof['report'], { service }: AggregateForm, atNs: bigint): Proof['report'] {
  const name = 'signed before the instant';
  const checks = report.checks;
  if (service.timestampNs <= atNs) return { ...report, checks: [...checks, { name, status: 'ok' }] };
  const reason = `it was signed at ${momentText(service.timestampNs)}`;
  return { ...report, verdict: 'failed', checks: [...checks, { name, status: 'failed', reason }] };
}

/** Reads the definition of each algorithm. */
export function readAlgorithms(text: string): ReadonlyMap<string, string> {
  const { data } = parseExactJson(text) as {
    data: readonly Readonly<Record<'type' | 'definition', string>>[];
  };
  return new Map(data.map(({ type, definition }) => [type, definition]));
}

/** Makes a shell command that verifies an answer offline. */
export function verifyCommand({ answer, signers, oracleId }: ProofRequest): string {
  const keys = signers.map((signer) => ` --signer ${signer}`).join('');
  const oracle = oracleId === undefined ? '' : ` --oracle-id ${quotedForShell(oracleId)}`;
  return `tickseal verify${keys}${oracle} ${quotedForShell(answer)}`;
}

/** Puts a text in single quotes for a POSIX shell. */
function quotedForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
