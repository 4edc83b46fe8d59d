import { readFileSync } from 'node:fs';
import { type AggregateForm, readAggregate } from '../client/verify/aggregate_form.js';
import { parseExactJson } from '../client/verify/exact_json.js';
import { type PriceToFind, placeOfAggregate, verifyLogged } from '../client/verify/logged_price.js';
import { aggregatesIn } from '../client/verify/verify_aggregate.js';
import { verifyByNode } from '../tlog/ed25519_key.js';
import { parsePolicy } from '../tlog/log_policy.js';
import type { LoggedPrice } from '../tlog/price_proof.js';
import { PROOF_LENGTH_MAX } from '../tlog/proof_file.js';
import { TlogError } from '../tlog/tlog_error.js';
import { logFileReader } from '../witness/log_file_reader.js';
import type { LineWriter } from './client_command.js';

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
  const policy = parsePolicy(readFileSync(files.policy));
  const price = placeOfAggregate(onlyAggregate(text, serviceName));
  const { symbol } = price;
  const proof = files.proof === undefined ? await askedProof(files.log!, price) : readFileSync(files.proof);
  if (proof === undefined) {
    out.write(`${symbol}: NOT LOGGED: the service has no proof of it`);
    return false;
  }
  try {
    const logged = await verifyLogged(price, proof, { policy, verifyEd25519: verifyByNode });
    out.write(`${symbol}: logged, ${placeText(logged)}`);
    return true;
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    out.write(`${symbol}: NOT LOGGED: ${error.message}`);
    return false;
  }
}

/** Requests the proof of a price from a service; `undefined` when the service has no proof. */
async function askedProof(
  url: string,
  { symbol, timeNs, signatureType }: PriceToFind,
): Promise<Uint8Array | undefined> {
  if (!/^https?:\/\//.test(url))
    throw new Error('--log: expected an address such as https://prices.example.com');
  const query = new URLSearchParams({
    asset: symbol,
    timestamp: String(timeNs),
    signature_type: signatureType,
  });
  const read = logFileReader(`${url.replace(/\/+$/, '')}/`, new AbortController().signal);
  return read(`v1/prices/proof?${query}`, PROOF_LENGTH_MAX);
}

function onlyAggregate(text: string, serviceName: string | undefined): AggregateForm {
  const aggregates = aggregatesIn(parseExactJson(text));
  if (aggregates.length !== 1)
    throw new Error(`a proof is for one aggregate, and the input has ${aggregates.length}`);
  return readAggregate(aggregates[0]![1], serviceName);
}

function placeText({ origin, size, batch, record, cosigners }: LoggedPrice): string {
  const place = `record ${record} of ${batch.records} in batch ${batch.batch}`;
  const witnesses = [...cosigners].map(([name, timeS]) => `${name} at ${timeS}`);
  const seen = witnesses.length === 0 ? 'no witness' : witnesses.join(', ');
  return `${place} of ${origin}, of which ${seen} has seen ${size} batches`;
}
