import { isEqual } from './log_text.js';
import { TlogError } from './tlog_error.js';
import { HASH_BYTES } from './tree_hash.js';

/** The record of one signed aggregate in a batch. */
export interface PriceRecord {
  readonly signatureType: 'evm' | 'stark';
  /** The service's address, padded to the left with zeros, or its Stark public key: 32 bytes. */
  readonly signer: Uint8Array;
  /** The Keccak-256 of the symbol. */
  readonly symbolHash: Uint8Array;
  /** The time of the service's signature. */
  readonly timeNs: bigint;
  /** The hash that the service signed: 32 bytes. */
  readonly msgHash: Uint8Array;
}

/** The layout: type, signer, hash of the symbol, time, hash of the message. All fields except the last determine the place. */
export const RECORD_BYTES = 1 + 32 + 32 + 8 + 32;
/** The place of the hash of the message. All bytes before it determine the place of the record. */
export const RECORD_HASH_AT = RECORD_BYTES - HASH_BYTES;
export const RECORD_TIME_AT = 1 + 2 * HASH_BYTES;
const TYPE_CODES = { evm: 1, stark: 2 } as const;
const UINT64_MAX = 2n ** 64n - 1n;

/** @throws RangeError when a field does not fit */
export function encodeRecord(record: PriceRecord): Uint8Array {
  const { signatureType, signer, symbolHash, timeNs, msgHash } = record;
  requireHash('signer', signer);
  requireHash('symbolHash', symbolHash);
  requireHash('msgHash', msgHash);
  if (timeNs < 0n || timeNs > UINT64_MAX) throw new RangeError('timeNs is not a uint64');
  const bytes = new Uint8Array(RECORD_BYTES);
  bytes[0] = TYPE_CODES[signatureType];
  bytes.set(signer, 1);
  bytes.set(symbolHash, 1 + HASH_BYTES);
  new DataView(bytes.buffer).setBigUint64(RECORD_TIME_AT, timeNs);
  bytes.set(msgHash, RECORD_HASH_AT);
  return bytes;
}

function requireHash(name: string, { length }: Uint8Array): void {
  if (length !== HASH_BYTES) throw new RangeError(`${name} has ${length} bytes instead of ${HASH_BYTES}`);
}

/** @throws TlogError when the bytes are not a record */
export function decodeRecord(bytes: Uint8Array): PriceRecord {
  const signatureType =
    bytes[0] === TYPE_CODES.evm ? 'evm' : bytes[0] === TYPE_CODES.stark ? 'stark' : undefined;
  if (bytes.length !== RECORD_BYTES || signatureType === undefined)
    throw new TlogError('the bytes are not a record of a signed price');
  return {
    signatureType,
    signer: bytes.slice(1, 1 + HASH_BYTES),
    symbolHash: bytes.slice(1 + HASH_BYTES, RECORD_TIME_AT),
    timeNs: recordTimeNs(bytes),
    msgHash: bytes.slice(RECORD_HASH_AT),
  };
}

export function recordTimeNs(record: Uint8Array): bigint {
  return new DataView(record.buffer, record.byteOffset).getBigUint64(RECORD_TIME_AT);
}

/** Compares the places of two records in a batch by type, signer, symbol and time. Returns 0 for the same place. */
export function comparePlaces(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < RECORD_HASH_AT; i += 1) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return 0;
}

/**
 * Sorts the records of a batch, and removes repetitions.
 * @throws TlogError when two different records have the same place, because the service signed two values for one time
 */
export function sortRecords(records: readonly Uint8Array[]): Uint8Array[] {
  const sorted = records.toSorted(comparePlaces);
  return sorted.filter((record, i) => {
    const before = sorted[i - 1];
    if (before === undefined || comparePlaces(before, record) < 0) return true;
    if (isEqual(before, record)) return false;
    throw new TlogError(`two signed prices have one place, at ${recordTimeNs(record)} ns`);
  });
}

/** Splits the bytes of a batch into its records. @throws TlogError unless the records are complete, sorted and unique */
export function splitRecords(bytes: Uint8Array): Uint8Array[] {
  if (bytes.length % RECORD_BYTES !== 0) throw new TlogError('a batch does not consist of whole records');
  const records = Array.from({ length: bytes.length / RECORD_BYTES }, (_, i) =>
    bytes.subarray(i * RECORD_BYTES, (i + 1) * RECORD_BYTES),
  );
  records.forEach((record, i) => {
    decodeRecord(record);
    if (i > 0 && comparePlaces(records[i - 1]!, record) >= 0)
      throw new TlogError(`record ${i} of a batch is not in order`);
  });
  return records;
}
