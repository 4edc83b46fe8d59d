import { Builder, ByteBuffer } from 'flatbuffers';
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
import { decodeInput, encodeInput } from './input_record.js';

/** The latest accepted input of a publisher for an asset. */
export interface AcceptedInput {
  readonly input: PublisherPrice;
  /** Absent in records of versions that kept no window of hashes. */
  readonly seen: SeenUpdates | undefined;
  /** Its record, where that is known already. */
  readonly bytes?: Uint8Array;
}

/** A size-prefixed `InputRecord` of record.fbs and, behind it, a size-prefixed `SeenRecord`. */
export function encodeAcceptedInput({ input, seen, bytes }: AcceptedInput): Uint8Array {
  if (bytes !== undefined) return bytes;
  const inputBytes = encodeInput(input);
  return seen === undefined ? inputBytes : Buffer.concat([inputBytes, encodeSeen(seen)]);
}

/** Reads what {@link encodeAcceptedInput} wrote. */
export function decodeAcceptedInput(bytes: Uint8Array): AcceptedInput {
  const { input, byteLength } = decodeInput(bytes);
  const rest = bytes.subarray(byteLength);
  return { input, seen: rest.length === 0 ? undefined : decodeSeen(rest) };
}

/** The same, with its bytes, for who may never look at the input: it is read when something asks for it. */
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

/** Scratch space, empty between calls. */
const builder = new Builder(1_024);

function encodeSeen({ floorNs, senders, updates }: SeenUpdates): Uint8Array {
  builder.clear();
  const names = senders.map((sender) => builder.createString(sender));
  const sendersAt = SeenRecord.createSenderVector(builder, names);
  const hashKeysAt = SeenRecord.createHashKeyVector(builder, column(updates, SEEN_HASH_KEY));
  const secondsAt = SeenRecord.createSecondVector(builder, column(updates, SEEN_SECOND));
  const nanosAt = SeenRecord.createNanosVector(builder, column(updates, SEEN_NANOS));
  const senderIndexesAt = SeenRecord.createSenderIndexVector(builder, column(updates, SEEN_SENDER));
  builder.finishSizePrefixed(
    SeenRecord.createSeenRecord(builder, floorNs, sendersAt, hashKeysAt, secondsAt, nanosAt, senderIndexesAt),
  );
  return builder.asUint8Array();
}

function decodeSeen(bytes: Uint8Array): SeenUpdates {
  const record = SeenRecord.getSizePrefixedRootAsSeenRecord(new ByteBuffer(bytes));
  const updates: number[] = [];
  for (let i = 0; i < record.hashKeyLength(); i++)
    updates.push(record.hashKey(i)!, record.second(i)!, record.nanos(i)!, record.senderIndex(i)!);
  return {
    floorNs: record.floorNs() as TimeNs,
    senders: Array.from({ length: record.senderLength() }, (_, i) => record.sender(i)),
    updates,
  };
}

/** One field of all updates. */
function column(updates: readonly number[], field: number): number[] {
  const values: number[] = [];
  for (let at = field; at < updates.length; at += SEEN_FIELDS) values.push(updates[at]!);
  return values;
}
