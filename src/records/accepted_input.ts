import { Builder, ByteBuffer } from 'flatbuffers';
import type { AssetIndex } from '../model/asset.js';
import type { SeenUpdate, SeenUpdates } from '../model/seen_updates.js';
import type { PublisherPrice } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import { SeenRecord } from './generated/record.js';
import { decodeInput, encodeInput, type PublisherLookup } from './input_record.js';

/** The latest accepted input of a publisher for an asset. */
export interface AcceptedInput {
  readonly input: PublisherPrice;
  /** Absent in records of versions that kept no window of hashes. */
  readonly seen: SeenUpdates | undefined;
}

/** A size-prefixed `InputRecord` of record.fbs and, behind it, a size-prefixed `SeenRecord`. */
export function encodeAcceptedInput({ input, seen }: AcceptedInput): Uint8Array {
  const inputBytes = encodeInput(input);
  return seen === undefined ? inputBytes : Buffer.concat([inputBytes, encodeSeen(seen)]);
}

/** Reads what {@link encodeAcceptedInput} wrote. */
export function decodeAcceptedInput(
  bytes: Uint8Array,
  assetIndex: AssetIndex,
  publisherIndexOf: PublisherLookup,
): AcceptedInput {
  const { input, byteLength } = decodeInput(bytes, assetIndex, publisherIndexOf);
  const rest = bytes.subarray(byteLength);
  return { input, seen: rest.length === 0 ? undefined : decodeSeen(rest) };
}

/** Scratch space, empty between calls. */
const builder = new Builder(1_024);

function encodeSeen({ floorNs, seconds }: SeenUpdates): Uint8Array {
  const hashKeys: number[] = [];
  const ofSecond: number[] = [];
  const nanos: number[] = [];
  const senderIndexes: number[] = [];
  const indexBySender = new Map<string, number>();
  for (const { second, updates } of seconds)
    for (const [hashKey, update] of updates) {
      hashKeys.push(hashKey);
      ofSecond.push(second);
      nanos.push(update.nanos);
      let senderIndex = indexBySender.get(update.sender);
      if (senderIndex === undefined) {
        senderIndex = indexBySender.size;
        indexBySender.set(update.sender, senderIndex);
      }
      senderIndexes.push(senderIndex);
    }

  builder.clear();
  const senders = [...indexBySender.keys()].map((sender) => builder.createString(sender));
  const sendersAt = SeenRecord.createSenderVector(builder, senders);
  const hashKeysAt = SeenRecord.createHashKeyVector(builder, hashKeys);
  const secondsAt = SeenRecord.createSecondVector(builder, ofSecond);
  const nanosAt = SeenRecord.createNanosVector(builder, nanos);
  const senderIndexesAt = SeenRecord.createSenderIndexVector(builder, senderIndexes);
  builder.finishSizePrefixed(
    SeenRecord.createSeenRecord(builder, floorNs, sendersAt, hashKeysAt, secondsAt, nanosAt, senderIndexesAt),
  );
  return builder.asUint8Array();
}

function decodeSeen(bytes: Uint8Array): SeenUpdates {
  const record = SeenRecord.getSizePrefixedRootAsSeenRecord(new ByteBuffer(bytes));
  const senders = Array.from({ length: record.senderLength() }, (_, i) => record.sender(i));
  const updatesBySecond = new Map<number, Map<number, SeenUpdate>>();
  for (let i = 0; i < record.hashKeyLength(); i++) {
    const second = record.second(i)!;
    let updates = updatesBySecond.get(second);
    if (updates === undefined) {
      updates = new Map();
      updatesBySecond.set(second, updates);
    }
    updates.set(record.hashKey(i)!, {
      nanos: record.nanos(i)!,
      sender: senders[record.senderIndex(i)!]!,
    });
  }
  return {
    floorNs: record.floorNs() as TimeNs,
    seconds: [...updatesBySecond].map(([second, updates]) => ({ second, updates })),
  };
}
