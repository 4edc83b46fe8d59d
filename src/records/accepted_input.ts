import { ByteBuffer } from 'flatbuffers';
import {
  SEEN_FIELDS,
  SEEN_HASH_KEY,
  SEEN_NANOS,
  SEEN_SECOND,
  SEEN_SENDER,
  type SeenUpdates,
} from '../model/seen_updates.js';
import type { PublisherPrice } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import { SeenRecord } from './generated/record.js';
import { decodeInput, encodeInputOnce } from './input_record.js';
import type { InputRow } from './input_row.js';
import { TableWriter } from './table_writer.js';

/** The latest accepted input of a publisher for an asset. */
export interface AcceptedInput {
  readonly input: PublisherPrice;
  /** The window of updates; absent in records of versions without this window. */
  readonly seen: SeenUpdates | undefined;
  /** The bytes of the record, once they are encoded. */
  readonly bytes?: Uint8Array;
  /** The row of the input, if the input has a row. */
  readonly row?: InputRow;
}

/** Encodes a size-prefixed `InputRecord` of record.fbs, followed by a size-prefixed `SeenRecord`. */
export function encodeAcceptedInput(accepted: AcceptedInput): Uint8Array {
  // An opened record must not be decoded only to be encoded again.
  if (accepted.bytes !== undefined) return accepted.bytes;
  const { row, seen } = accepted;
  const inputBytes = row === undefined ? encodeInputOnce(accepted.input) : row.record();
  return seen === undefined ? inputBytes : Buffer.concat([inputBytes, encodeSeen(seen)]);
}

/** Reads the bytes that {@link encodeAcceptedInput} wrote. */
export function decodeAcceptedInput(bytes: Uint8Array): AcceptedInput {
  const { input, byteLength } = decodeInput(bytes);
  const rest = bytes.subarray(byteLength);
  return { input, seen: rest.length === 0 ? undefined : decodeSeen(rest) };
}

/**
 * Opens a record like {@link decodeAcceptedInput} and keeps its bytes. The input is decoded at its first use, because some callers never
 * use it.
 */
export function openAcceptedInput(bytes: Uint8Array): AcceptedInput {
  let read: AcceptedInput | undefined;
  const inside = () => (read ??= decodeAcceptedInput(bytes));
  return {
    bytes,
    get input() {
      return inside().input;
    },
    get seen() {
      return inside().seen;
    },
  };
}

const writer = new TableWriter();

/** The indexes of the fields in record.fbs. */
const FIELD = { floorNs: 0, sender: 1, hashKey: 2, second: 3, nanos: 4, senderIndex: 5 } as const;
const FIELDS = Object.keys(FIELD).length;

function encodeSeen({ floorNs, senders, updates, start, count }: SeenUpdates): Uint8Array {
  writer.begin(FIELDS, FIELDS - 1);
  writer.int64(FIELD.floorNs, floorNs);
  writer.texts(FIELD.sender, senders);
  let at = writer.beginVector(FIELD.hashKey, 8, count * 8);
  for (let i = 0; i < count; i++)
    writer.view.setFloat64(at + 8 * i, updates[start + i * SEEN_FIELDS + SEEN_HASH_KEY]!, true);
  writer.endVector(at, count, 8);
  at = writer.beginVector(FIELD.second, 4, count * 4);
  for (let i = 0; i < count; i++)
    writer.view.setUint32(at + 4 * i, updates[start + i * SEEN_FIELDS + SEEN_SECOND]!, true);
  writer.endVector(at, count, 4);
  at = writer.beginVector(FIELD.nanos, 4, count * 4);
  for (let i = 0; i < count; i++)
    writer.view.setUint32(at + 4 * i, updates[start + i * SEEN_FIELDS + SEEN_NANOS]!, true);
  writer.endVector(at, count, 4);
  at = writer.beginVector(FIELD.senderIndex, 2, count * 2);
  for (let i = 0; i < count; i++)
    writer.view.setUint16(at + 2 * i, updates[start + i * SEEN_FIELDS + SEEN_SENDER]!, true);
  writer.endVector(at, count, 2);
  return writer.finish();
}

function decodeSeen(bytes: Uint8Array): SeenUpdates {
  const record = SeenRecord.getSizePrefixedRootAsSeenRecord(new ByteBuffer(bytes));
  const updates: number[] = [];
  for (let i = 0; i < record.hashKeyLength(); i++)
    updates.push(record.hashKey(i)!, record.second(i)!, record.nanos(i)!, record.senderIndex(i)!);
  return {
    floorNs: record.floorNs() as TimeNs,
    senders: Array.from({ length: record.senderLength() }, (_, i) => record.sender(i)),
    count: record.hashKeyLength(),
    start: 0,
    updates,
  };
}
