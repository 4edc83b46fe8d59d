import { ByteBuffer } from 'flatbuffers';
import type { RememberedUpdate, SeenUpdates } from '../model/seen_updates.js';
import type { PublisherPrice } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import { SeenRecord } from './generated/record.js';
import { decodeInput, encodeInputOnce } from './input_record.js';
import { TableWriter } from './table_writer.js';

/** The latest accepted input of a publisher for an asset. */
export interface AcceptedInput {
  readonly input: PublisherPrice;
  /** The window of updates; absent in records of versions without this window. */
  readonly seen: SeenUpdates | undefined;
  /** The bytes of the record, once they are encoded. */
  readonly bytes?: Uint8Array;
}

/** Encodes a size-prefixed `InputRecord` of record.fbs, followed by a size-prefixed `SeenRecord`. */
export function encodeAcceptedInput(accepted: AcceptedInput): Uint8Array {
  // An opened record must not be decoded only to be encoded again.
  if (accepted.bytes !== undefined) return accepted.bytes;
  const { input, seen } = accepted;
  const inputBytes = encodeInputOnce(input);
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

function encodeSeen({ floorNs, updates }: SeenUpdates): Uint8Array {
  const senders = [...new Set(updates.map(({ sender }) => sender))];
  writer.begin(FIELDS, FIELDS - 1);
  writer.int64(FIELD.floorNs, floorNs);
  writer.texts(FIELD.sender, senders);
  const column = (field: number, bytes: number, write: (at: number, update: RememberedUpdate) => void) => {
    const start = writer.beginVector(field, bytes, updates.length * bytes);
    for (let i = 0; i < updates.length; i++) write(start + bytes * i, updates[i]!);
    writer.endVector(start, updates.length, bytes);
  };
  column(FIELD.hashKey, 8, (at, { hashKey }) => writer.view.setFloat64(at, hashKey, true));
  column(FIELD.second, 4, (at, { second }) => writer.view.setUint32(at, second, true));
  column(FIELD.nanos, 4, (at, { nanos }) => writer.view.setUint32(at, nanos, true));
  column(FIELD.senderIndex, 2, (at, { sender }) => writer.view.setUint16(at, senders.indexOf(sender), true));
  return writer.finish();
}

function decodeSeen(bytes: Uint8Array): SeenUpdates {
  const record = SeenRecord.getSizePrefixedRootAsSeenRecord(new ByteBuffer(bytes));
  const senders = Array.from({ length: record.senderLength() }, (_, i) => record.sender(i));
  const updates = Array.from({ length: record.hashKeyLength() }, (_, i) => ({
    hashKey: record.hashKey(i)!,
    second: record.second(i)!,
    nanos: record.nanos(i)!,
    sender: senders[record.senderIndex(i)!] ?? '',
  }));
  return { floorNs: record.floorNs() as TimeNs, updates };
}
