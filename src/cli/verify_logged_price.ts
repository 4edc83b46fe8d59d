import { type AggregateForm, readAggregate } from '../client/verify/aggregate_form.js';
import { unknownOrigin } from '../client/verify/changed_origin.js';
import { decodePayload, type Payload } from '../client/verify/decode_payload.js';
import { findPayload, type PayloadPlace } from '../client/verify/find_payload.js';
import { type PriceToFind, placeOfAggregate, verifyLogged } from '../client/verify/logged_price.js';
import type { ReadLogFile } from '../client/verify/served_log.js';
import { aggregatesIn } from '../client/verify/verify_aggregate.js';
import { readNamedFile } from '../config/unreadable_file.js';
import { logFileReader } from '../publiclog/witness/log_file_reader.js';
import { verifyByNode } from '../tlog/ed25519_key.js';
import { type LogPolicy, parsePolicy } from '../tlog/log_policy.js';
import { nodeSha256 } from '../tlog/node_sha256.js';
import type { LoggedPrice } from '../tlog/price_proof.js';
import { PROOF_LENGTH_MAX, parseProofFile } from '../tlog/proof_file.js';
import { NOTE_BYTES_MAX } from '../tlog/signed_note.js';
import { TlogError } from '../tlog/tlog_error.js';
import { errorText, joined, type LineWriter, reasonText, type Shown, shown } from './shown_line.js';

/** The policy file, and the file of a proof or the address of a service that proves the price. */
export interface LogFiles {
  readonly proof?: string | undefined;
  readonly log?: string | undefined;
  readonly policy: string;
}

/**
 * Verifies that the public log contains the text's single aggregate, and prints the aggregate's index in the log.
 * @returns false when the log does not contain the aggregate
 * @throws Error for files that cannot be read, an invalid policy, and a text without exactly one aggregate
 */
export async function verifyLoggedText(
  text: string,
  files: LogFiles,
  serviceName: string | undefined,
  out: LineWriter,
): Promise<boolean> {
  const policy = parsePolicy(readNamedFile(files.policy));
  const price = placeOfAggregate(onlyAggregate(text, serviceName));
  const { symbol } = price;
  try {
    const proof =
      files.proof === undefined ? await askedProof(files.log!, price, policy) : readNamedFile(files.proof);
    requireKnownLog(parseProofFile(proof).checkpoint, policy);
    const logged = await verifyLogged(price, proof, { policy, verifyEd25519: verifyByNode });
    out.write(shown`${symbol}: logged, ${placeText(logged)}`);
    return true;
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    out.write(shown`${symbol}: NOT LOGGED: ${errorText(error)}`);
    return false;
  }
}

/**
 * Verifies that the log of streaming payloads at an address contains each of these payloads.
 * @returns false when a payload was not found
 * @throws Error when the log cannot be read, and for an invalid policy
 */
export async function verifyLoggedPayloads(
  payloads: readonly string[],
  { log, policy: policyFile }: Required<Pick<LogFiles, 'log' | 'policy'>>,
  out: LineWriter,
): Promise<boolean> {
  const policy = parsePolicy(readNamedFile(policyFile));
  const read = logFileReader(`${log}/tlog/streams/`, new AbortController().signal);
  let areLogged = true;
  for (const hex of payloads) {
    const payload = decodePayload(hex);
    const place =
      'check' in payload ? { lacks: payload.reason } : await placeOfPayload(payload, read, policy);
    if ('logged' in place) out.write(shown`payload: logged, ${placeText(place.logged)}`);
    else out.write(shown`payload: NOT LOGGED: ${reasonText(place.lacks)}`);
    areLogged &&= 'logged' in place;
  }
  return areLogged;
}

async function placeOfPayload(payload: Payload, read: ReadLogFile, policy: LogPolicy): Promise<PayloadPlace> {
  try {
    return await findPayload(payload, read, { policy, verifyEd25519: verifyByNode }, nodeSha256);
  } catch (error) {
    if (error instanceof TlogError) return { lacks: error.message };
    throw error;
  }
}

/**
 * Requests the proof of a price from a service.
 * @throws TlogError when the service has no proof
 */
async function askedProof(
  url: string,
  { symbol, timeNs, signatureType }: PriceToFind,
  policy: LogPolicy,
): Promise<Uint8Array> {
  const query = new URLSearchParams({
    asset: symbol,
    timestamp: String(timeNs),
    signature_type: signatureType,
  });
  const read = logFileReader(`${url}/`, new AbortController().signal);
  const proof = await read(`v1/prices/proof?${query}`, PROOF_LENGTH_MAX);
  if (proof !== undefined) return proof;
  // A log that goes on under a new origin has no proofs of earlier prices.
  const note = await read('tlog/checkpoint', NOTE_BYTES_MAX);
  if (note !== undefined) requireKnownLog(note, policy);
  throw new TlogError('the service has no proof of it');
}

/** @throws TlogError when the policy does not name the log of a checkpoint */
function requireKnownLog(note: Uint8Array | string, policy: LogPolicy): void {
  const other = unknownOrigin(typeof note === 'string' ? note : Buffer.from(note).toString(), policy);
  if (other !== undefined) throw new TlogError(other);
}

function onlyAggregate(text: string, serviceName: string | undefined): AggregateForm {
  const aggregates = aggregatesIn(text);
  if (aggregates.length !== 1)
    throw new Error(`a proof is for one aggregate, and the input has ${aggregates.length}`);
  return readAggregate(aggregates[0]![1], serviceName);
}

function placeText({ origin, size, batch, record, cosigners }: LoggedPrice): Shown {
  const place = shown`record ${record} of ${batch.records} in batch ${batch.batch}`;
  const witnesses = [...cosigners].map(([name, timeS]) => shown`${name} at ${timeS}`);
  const seen = witnesses.length === 0 ? shown`no witness` : joined(witnesses, ', ');
  return shown`${place} of ${origin}, of which ${seen} has seen ${size} batches`;
}
