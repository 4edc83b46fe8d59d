import { isBatchOf } from '../../tlog/batch_entry.js';
import { verifyByWebCrypto } from '../../tlog/ed25519.js';
import { isEqual } from '../../tlog/log_text.js';
import { openCheckpoint, requireQuorum } from '../../tlog/open_checkpoint.js';
import type { LoggedPrice } from '../../tlog/price_proof.js';
import { RECORD_BYTES } from '../../tlog/price_record.js';
import { TlogError } from '../../tlog/tlog_error.js';
import { readAggregate } from './aggregate_form.js';
import { unknownOrigin } from './changed_origin.js';
import type { CheckpointHistory } from './checkpoint_history.js';
import type { Evidence } from './evidence_file.js';
import { parseExactJson } from './exact_json.js';
import { type LogEvidenceExpectations, requireEntry, verifyEvidence } from './log_evidence.js';
import { type PriceToFind, placeOfAggregate, recordOfPrice, verifyLogged } from './logged_price.js';
import { recordsAround } from './missing_record.js';
import { leavesOf, type ReadLogFile, ServedLog } from './served_log.js';

/** A service that has a log. */
export interface LogToSearch {
  /** Requests the proof of a price. Resolves with `undefined` when the service has no proof, for any reason. */
  readonly proofOf: (price: PriceToFind) => Promise<string | undefined>;
  /** Reads a public file of the log. */
  readonly read: ReadLogFile;
  /** The checkpoints that were read before. Default: none; then a checkpoint is compared with no other. */
  readonly history?: CheckpointHistory;
}

/**
 * The place of a price, the proof that the log contradicts the price, or the reason why both are unknown. `isOther`: the policy does
 * not name the service's log.
 */
export type LogAnswer =
  | { readonly logged: LoggedPrice; readonly timeNs: bigint }
  | { readonly evidence: Evidence; readonly statement: string }
  | { readonly lacks: string; readonly isOther?: boolean };

/**
 * Looks for a price in a public log. If the service gives no proof, the function reads the files of the log. The files contain the
 * price or prove that the price is missing.
 * @param text the aggregate as REST serves it
 */
export async function searchLog(
  text: string,
  log: LogToSearch,
  expected: LogEvidenceExpectations,
): Promise<LogAnswer> {
  try {
    const price = placeOfAggregate(readAggregate(parseExactJson(text)));
    return (await provedPlace(price, log, expected)) ?? (await searchFiles(text, price, log, expected));
  } catch (error) {
    return { lacks: (error as Error).message };
  }
}

async function provedPlace(
  price: PriceToFind,
  log: LogToSearch,
  expected: LogEvidenceExpectations,
): Promise<LogAnswer | undefined> {
  const proof = await log.proofOf(price);
  if (proof === undefined) return undefined;
  try {
    return { logged: await verifyLogged(price, proof, expected), timeNs: price.timeNs };
  } catch (error) {
    if (error instanceof TlogError) return undefined;
    throw error;
  }
}

async function searchFiles(
  text: string,
  price: PriceToFind,
  { read, history }: LogToSearch,
  expected: LogEvidenceExpectations,
): Promise<LogAnswer> {
  const { policy, verifyEd25519 = verifyByWebCrypto } = expected;
  const log = new ServedLog(read);
  const note = await log.checkpoint();
  const other = unknownOrigin(note, policy);
  if (other !== undefined) return { lacks: other, isOther: true };
  const signed = await openCheckpoint(note, policy, verifyEd25519);
  requireQuorum(signed, policy);
  const { checkpoint, cosigners } = signed;
  const { origin, size } = checkpoint;
  const fork = await history?.compare(note, checkpoint, log);
  if (fork !== undefined)
    return { evidence: fork, statement: (await verifyEvidence(fork, expected)).statement };
  const found = await log.batchAt(price.timeNs, size);
  if (found === 'later') return { lacks: 'no checkpoint covers the price yet' };
  if (found === 'earlier') return { lacks: 'the log begins after the price' };
  const { batch } = found;
  const bytes = await log.records(batch.batch);
  if (bytes === undefined) return { lacks: `the log does not serve the records of batch ${batch.batch}` };
  const records = leavesOf(bytes, RECORD_BYTES);
  const proven = await log.prove(batch.batch, new TextDecoder().decode(found.entry), size);
  requireEntry(proven, checkpoint);
  if (records.some(({ length }) => length !== RECORD_BYTES) || !isBatchOf(batch, records))
    return { lacks: `the log serves records of batch ${batch.batch} that are not those of its entry` };
  const record = recordOfPrice(price);
  const around = recordsAround(records, record);
  if (around === undefined) {
    const index = BigInt(records.findIndex((one) => isEqual(one, record)));
    return { logged: { origin, size, batch, record: index, cosigners }, timeNs: price.timeNs };
  }
  const evidence: Evidence = {
    kind: 'not in the log',
    price: text,
    checkpoint: note,
    batch: proven,
    records: around,
  };
  const { statement } = await verifyEvidence(evidence, expected);
  return { evidence, statement };
}
