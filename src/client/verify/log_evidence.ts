import { type BatchEntry, parseBatchEntry } from '../../tlog/batch_entry.js';
import { type VerifyEd25519, verifyByWebCrypto } from '../../tlog/ed25519.js';
import type { LogPolicy } from '../../tlog/log_policy.js';
import { fromBase64, isEqual } from '../../tlog/log_text.js';
import { openCheckpoint } from '../../tlog/open_checkpoint.js';
import { comparePlaces, RECORD_BYTES, recordTimeNs } from '../../tlog/price_record.js';
import { TlogError } from '../../tlog/tlog_error.js';
import type { Checkpoint } from '../../tlog/tree_checkpoint.js';
import { HASH_BYTES, leafHash } from '../../tlog/tree_hash.js';
import { isConsistent, isIncluded } from '../../tlog/tree_proofs.js';
import { readAggregate } from './aggregate_form.js';
import type { Signers, Verdict } from './checks.js';
import type { Evidence, ProvenEntry, ProvenRecord } from './evidence_file.js';
import { parseExactJson } from './exact_json.js';
import { placeOfAggregate, recordOfPrice } from './logged_price.js';
import { proveTwoMeanings } from './two_meanings.js';
import { verifyAggregate } from './verify_aggregate.js';
import { type PayloadReport, verifyPayload } from './verify_payload.js';

/** The facts that a third party knows beforehand. */
export interface EvidenceExpectations<S extends Signers = Signers> {
  /** The logs and witnesses that the third party trusts. Evidence of two values or payloads needs none. */
  readonly policy?: LogPolicy | undefined;
  /** The service's keys, or `'unchecked'` to recover the signer without a check. */
  readonly signers: S;
  /** The service's oracle ID, which its Stark signatures cover. */
  readonly oracleId?: string | undefined;
  readonly verifyEd25519?: VerifyEd25519 | undefined;
}

/** The facts for evidence about a log. */
export type LogEvidenceExpectations = EvidenceExpectations & { readonly policy: LogPolicy };

/** A proven fault. */
export interface ProvenFault {
  /** A sentence that describes the fault of the service or the log. */
  readonly statement: string;
  /** The signer of the price; absent when the evidence has no price. */
  readonly signer?: string | undefined;
  /** `recovered` when the signer was not named. */
  readonly verdict: Verdict<Signers>;
}

/**
 * Proves a fault from an evidence file, without other data.
 * @throws TlogError that names the failed step, when the evidence proves nothing
 */
export async function verifyEvidence(
  evidence: Evidence,
  expected: EvidenceExpectations,
): Promise<ProvenFault> {
  if (evidence.kind === 'two values') return proveTwoValues(evidence.prices, expected);
  if (evidence.kind === 'two payloads') return proveTwoPayloads(evidence.payloads, expected);
  if (evidence.kind === 'two meanings') return proveTwoMeanings(evidence, expected.signers);
  if (evidence.kind === 'fork') return proveFork(evidence, expected);
  if (evidence.kind === 'observed' || evidence.kind === 'overdue')
    throw new TlogError(`only the auditor saw it, and nobody signed it: ${evidence.found}`);
  const checkpoint = await openedCheckpoint(evidence.checkpoint, expected);
  if (evidence.kind === 'bad entry') return proveBadEntry(evidence.entries, checkpoint);
  const batch = provenBatch(evidence.batch, checkpoint);
  if (evidence.kind === 'bad records') return proveBadRecords(evidence.records, batch, checkpoint);
  return proveNotInLog(evidence.price, evidence.records, batch, checkpoint, expected);
}

interface SignedFacts {
  readonly record: Uint8Array;
  readonly symbol: string;
  readonly timeNs: bigint;
}

/** Returns the facts that determine the place of an aggregate in the log. @throws FormError for another text */
export function factsOfAggregate(text: string): SignedFacts {
  const place = placeOfAggregate(readAggregate(parseExactJson(text)));
  return { record: recordOfPrice(place), symbol: place.symbol, timeNs: place.timeNs };
}

function proveTwoValues(
  [one, other]: readonly [string, string],
  expected: EvidenceExpectations,
): ProvenFault {
  const [first, second] = [signedPrice(one, expected), signedPrice(other, expected)];
  if (comparePlaces(first.record, second.record) !== 0)
    throw new TlogError('the prices have different signers, assets or times');
  if (isEqual(first.record, second.record)) throw new TlogError('the prices are the same');
  const { symbol, timeNs, signer, verdict } = first;
  return { statement: `${signer} signed two values of ${symbol} for ${timeNs} ns`, signer, verdict };
}

function proveTwoPayloads(
  payloads: readonly [string, string],
  { signers }: EvidenceExpectations,
): ProvenFault {
  const [one, other] = payloads.map((hex) => {
    const report = verifyPayload(hex, { signers });
    if (report.verdict !== 'failed') return report;
    const failed = report.checks.find(({ status }) => status === 'failed');
    throw new TlogError(`a payload is not signed by the service: ${failed?.name}: ${failed?.reason}`);
  }) as [SignedReport, SignedReport];
  const { timestampNs, taxonomyId, assets } = one.payload;
  const isSameTime = other.payload.timestampNs === timestampNs && other.payload.taxonomyId === taxonomyId;
  if (one.signer !== other.signer || !isSameTime)
    throw new TlogError('the payloads have different signers, taxonomies or times');
  const values = new Map(other.payload.assets.map(({ id, value }) => [id, value]));
  const twice = assets.find(({ id, value }) => (values.get(id) ?? value) !== value);
  if (twice === undefined) throw new TlogError('no asset has two values in the payloads');
  const { signer, verdict } = one;
  const statement = `${signer} signed two values of asset ${twice.id} of taxonomy ${taxonomyId} for ${timestampNs} ns`;
  return { statement, signer, verdict };
}

type SignedReport = Exclude<PayloadReport, { readonly verdict: 'failed' }>;

function proveNotInLog(
  price: string,
  records: readonly ProvenRecord[],
  batch: BatchEntry,
  { origin }: Checkpoint,
  expected: EvidenceExpectations,
): ProvenFault {
  const { record, symbol, timeNs, signer, verdict } = signedPrice(price, expected);
  if (timeNs < batch.fromNs || timeNs >= batch.toNs)
    throw new TlogError(`the price was signed at ${timeNs} ns, which is not in batch ${batch.batch}`);
  const proven = records.map((one) => provenRecord(one, batch));
  if (proven.some(({ bytes }) => bytes.length !== RECORD_BYTES))
    throw new TlogError(`batch ${batch.batch} of ${origin} has no prices`);
  const signed = `${signer} signed ${symbol} at ${timeNs} ns`;
  const [left, right = left] = proven;
  if (proven.length === 1 && comparePlaces(left!.bytes, record) === 0) {
    if (isEqual(left!.bytes, record)) throw new TlogError('the log has this price');
    return {
      statement: `${signed}, and batch ${batch.batch} of ${origin} has another value there`,
      signer,
      verdict,
    };
  }
  const isGap =
    proven.length === 0
      ? batch.records === 0n
      : proven.length === 2
        ? right!.index === left!.index + 1n && isBefore(left!.bytes, record) && isBefore(record, right!.bytes)
        : left!.index === 0n && isBefore(record, left!.bytes)
          ? true
          : left!.index === batch.records - 1n && isBefore(left!.bytes, record);
  if (!isGap) throw new TlogError('the records of the evidence are not the neighbours of the price');
  return { statement: `${signed}, and batch ${batch.batch} of ${origin} does not have it`, signer, verdict };
}

async function proveFork(
  { checkpoints, root, proof }: Extract<Evidence, { readonly kind: 'fork' }>,
  expected: EvidenceExpectations,
): Promise<ProvenFault> {
  const [older, newer] = [
    await openedCheckpoint(checkpoints[0], expected),
    await openedCheckpoint(checkpoints[1], expected),
  ];
  if (older.origin !== newer.origin) throw new TlogError('the checkpoints are of two logs');
  const other = { size: older.size, root: bytesOf(root) };
  if (!isConsistent(other, newer, proof.map(bytesOf)) || older.size === 0n)
    throw new TlogError('the proof does not fit the newer checkpoint');
  if (isEqual(other.root, older.root)) throw new TlogError('the checkpoints fit each other');
  const statement = `${older.origin} signed two pasts: its tree of ${newer.size} entries does not begin with its tree of ${older.size}`;
  return { statement, verdict: 'verified' };
}

function proveBadEntry(entries: readonly ProvenEntry[], checkpoint: Checkpoint): ProvenFault {
  for (const entry of entries) requireEntry(entry, checkpoint);
  const [first, second] = entries;
  const fault = first && entryFault(first, second);
  if (fault === undefined) throw new TlogError('the entries are as they must be');
  return { statement: `${checkpoint.origin} has a faulty entry: ${fault}`, verdict: 'verified' };
}

/** Returns the reason why an entry must not be at its place, or must not follow the entry before it; `undefined` for a valid entry. */
export function entryFault(
  { index, entry }: Pick<ProvenEntry, 'index' | 'entry'>,
  before?: Pick<ProvenEntry, 'index' | 'entry'>,
): string | undefined {
  try {
    const batch = parseBatchEntry(entry);
    if (batch.batch !== BigInt(index)) return `entry ${index} is batch ${batch.batch}`;
    if (before === undefined || BigInt(before.index) + 1n !== batch.batch) return undefined;
    const last = parseBatchEntry(before.entry);
    if (batch.fromNs !== last.toNs)
      return `batch ${index} begins at ${batch.fromNs} ns, and the one before ends at ${last.toNs}`;
    return batch.epoch < last.epoch ? `the epoch goes back from ${last.epoch} to ${batch.epoch}` : undefined;
  } catch (error) {
    if (error instanceof TlogError) return `entry ${index} cannot be read: ${error.message}`;
    throw error;
  }
}

function proveBadRecords(
  records: readonly ProvenRecord[],
  batch: BatchEntry,
  { origin }: Checkpoint,
): ProvenFault {
  const [first, second] = records.map((one) => provenRecord(one, batch));
  const fault =
    first && leafFault(batch, first.bytes, second?.index === first.index + 1n ? second.bytes : undefined);
  if (fault === undefined) throw new TlogError('the records are as they must be');
  return { statement: `batch ${batch.batch} of ${origin} is faulty: ${fault}`, verdict: 'verified' };
}

/**
 * Returns the reason why a leaf must not be in a batch of any log, or why the next leaf must not follow; `undefined` for valid leaves.
 * Nothing signed says whether a log has prices or the hashes of payloads, so a leaf of either form is valid.
 */
export function leafFault(batch: BatchEntry, leaf: Uint8Array, next?: Uint8Array): string | undefined {
  const fault = leaf.length === HASH_BYTES ? hashFault(leaf, next) : recordFault(batch, leaf, next);
  if (fault !== undefined || next === undefined || next.length === leaf.length) return fault;
  return 'its leaves are of two kinds';
}

function hashFault(hash: Uint8Array, next: Uint8Array | undefined): string | undefined {
  if (next?.length !== HASH_BYTES) return undefined;
  if (isEqual(hash, next)) return 'it has a hash twice';
  const at = hash.findIndex((byte, i) => byte !== next[i]);
  return hash[at]! > next[at]! ? 'its hashes are not in order' : undefined;
}

function recordFault(
  batch: BatchEntry,
  record: Uint8Array,
  next: Uint8Array | undefined,
): string | undefined {
  if (record.length !== RECORD_BYTES || (record[0] !== 1 && record[0] !== 2))
    return 'a leaf is neither a record nor a hash';
  const timeNs = recordTimeNs(record);
  if (timeNs < batch.fromNs || timeNs >= batch.toNs) return `a record of ${timeNs} ns is not in its period`;
  if (next === undefined || next.length !== RECORD_BYTES) return undefined;
  const order = comparePlaces(record, next);
  if (order === 0) return `two values are signed for one asset at ${timeNs} ns`;
  return order > 0 ? 'its records are not in order' : undefined;
}

/**
 * Verifies the service's own signature. The inputs of the price do not matter here.
 * @throws TlogError when the price is not signed
 */
export function signedPrice(text: string, { signers, oracleId }: EvidenceExpectations) {
  const [report] = verifyAggregate(text, { signers, oracleId });
  const ofService = report?.checks.filter(({ name }) => name.includes('_signed_price ')) ?? [];
  const failed = ofService.find(({ status }) => status === 'failed');
  if (report?.signer === undefined || failed !== undefined)
    throw new TlogError(
      `the price is not signed by the service: ${failed?.name ?? 'form'}: ${failed?.reason}`,
    );
  const verdict: Verdict<Signers> = signers === 'unchecked' ? 'recovered' : 'verified';
  return { ...factsOfAggregate(text), signer: report.signer, verdict };
}

async function openedCheckpoint(
  note: string,
  { policy, verifyEd25519 }: EvidenceExpectations,
): Promise<Checkpoint> {
  if (policy === undefined) throw new TlogError('the evidence is about a log, so it needs a policy');
  return (await openCheckpoint(note, policy, verifyEd25519 ?? verifyByWebCrypto)).checkpoint;
}

/** @throws TlogError when the proof does not lead to the checkpoint */
export function requireEntry({ index, entry, path }: ProvenEntry, { size, root }: Checkpoint): void {
  const inclusion = { index: BigInt(index), size, path: path.map(bytesOf) };
  if (!isIncluded(leafHash(new TextEncoder().encode(entry)), inclusion, root))
    throw new TlogError(`the log does not have the entry of the evidence at ${index}`);
}

function provenBatch(entry: ProvenEntry, checkpoint: Checkpoint): BatchEntry {
  requireEntry(entry, checkpoint);
  return parseBatchEntry(entry.entry);
}

function provenRecord({ index, record, path }: ProvenRecord, batch: BatchEntry) {
  const bytes = bytesOf(record);
  const inclusion = { index: BigInt(index), size: batch.records, path: path.map(bytesOf) };
  if (!isIncluded(leafHash(bytes), inclusion, batch.root))
    throw new TlogError(`batch ${batch.batch} does not have the record of the evidence at ${index}`);
  return { index: inclusion.index, bytes };
}

function isBefore(one: Uint8Array, other: Uint8Array): boolean {
  return comparePlaces(one, other) < 0;
}

function bytesOf(base64: string): Uint8Array {
  const bytes = fromBase64(base64);
  if (bytes === undefined) throw new TlogError('a text of the evidence is not Base64');
  return bytes;
}
