import { RECORD_BYTES, RECORD_TIME_AT } from '../../tlog/price_record.js';
import { HASH_BYTES } from '../../tlog/tree_hash.js';

/** The form of the records of a log, as they wait for their batch. */
export interface RecordForm {
  /** The offset of the time that selects the batch: a uint64 in UNIX nanoseconds. The bytes before it determine the order. */
  readonly timeAt: number;
  /** The number of leading bytes that the batch contains. */
  readonly batchBytes: number;
}

/** The records of signed aggregates. The time is the time of the signature. */
export const PRICE_FORM: RecordForm = { timeAt: RECORD_TIME_AT, batchBytes: RECORD_BYTES };

/** The hashes of signed streaming payloads. The time is the arrival at the log, and is not in the batch. */
export const HASH_FORM: RecordForm = { timeAt: HASH_BYTES, batchBytes: HASH_BYTES };
