import { Builder, ByteBuffer } from 'flatbuffers';
import { parseHex } from '../model/hex.js';
import { type Price, parsePrice, readPrice, writePrice } from '../model/price.js';
import type { PublisherPrice } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import { PRICE_BYTES } from '../wire/price.js';
import { InputRecord } from './generated/record.js';
import { packText, unpackText } from './packed_text.js';

const HASH_BYTES = 32;

/**
 * An input as a size-prefixed `InputRecord` of record.fbs. One input is part of many aggregates and is also stored by
 * itself, so its bytes are made once and kept as long as the input.
 */
export function encodeInput(input: PublisherPrice): Uint8Array {
  let bytes = encodedInputs.get(input);
  if (bytes === undefined) {
    bytes = buildInput(input);
    encodedInputs.set(input, bytes);
  }
  return bytes;
}

/** A cache of a pure function: each value follows from its key alone. */
const encodedInputs = new WeakMap<PublisherPrice, Uint8Array>();

/** Reads the size-prefixed record at the start of `bytes`; `byteLength` is its length. */
export function decodeInput(bytes: Uint8Array): { input: PublisherPrice; byteLength: number } {
  const buffer = new ByteBuffer(bytes);
  const byteLength = 4 + buffer.readInt32(0);
  const record = InputRecord.getSizePrefixedRootAsInputRecord(buffer);
  const priceText = unpackText(record.priceTextArray()!);
  const price = record.priceArray();
  const msgHashText = unpackText(record.msgHashTextArray()!);
  const v = record.vArray();
  const metadata = record.metadataArray();
  const input = {
    // It was a price when it was written.
    price: price === null ? (BigInt(priceText) as Price) : decodePrice(price),
    timestampNs: record.timestampNs() as TimeNs,
    msgHash: record.msgHashArray() ?? Uint8Array.from(parseHex(msgHashText, HASH_BYTES)!),
    wire: {
      publisherKey: unpackText(record.publisherKeyArray()!),
      externalAssetId: unpackText(record.externalAssetIdArray()!),
      price: priceText,
      r: unpackText(record.rArray()!),
      s: unpackText(record.sArray()!),
      v: v === null ? undefined : unpackText(v),
      msgHash: msgHashText,
      metadata: metadata === null ? undefined : unpackText(metadata),
    },
  };
  return { input, byteLength };
}

/** A price as the 16 bytes of the records. */
export function encodePrice(price: Price): Uint8Array {
  const bytes = Buffer.allocUnsafe(PRICE_BYTES);
  writePrice(price, bytes, 0);
  return bytes;
}

/** Reads what {@link encodePrice} wrote. */
export function decodePrice(bytes: Uint8Array): Price {
  return readPrice(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), 0);
}

/** Scratch space, empty between calls. A new builder for every record took a third of the time. */
const builder = new Builder(1_024);

function buildInput({ price, timestampNs, msgHash, wire }: PublisherPrice): Uint8Array {
  builder.clear();
  const text = (value: string) => builder.createByteVector(packText(value));
  // The generated functions write byte by byte; createByteVector copies.
  const fields = [
    parsePrice(wire.price) === price ? 0 : builder.createByteVector(encodePrice(price)),
    parseHex(wire.msgHash, HASH_BYTES)?.equals(msgHash) ? 0 : builder.createByteVector(msgHash),
    text(wire.publisherKey),
    text(wire.externalAssetId),
    text(wire.price),
    text(wire.r),
    text(wire.s),
    wire.v === undefined ? 0 : text(wire.v),
    text(wire.msgHash),
    wire.metadata === undefined ? 0 : text(wire.metadata),
  ] as const;
  const [priceAt, msgHashAt, keyAt, externalIdAt, priceTextAt, rAt, sAt, vAt, msgHashTextAt, metadataAt] =
    fields;
  InputRecord.startInputRecord(builder);
  if (priceAt !== 0) InputRecord.addPrice(builder, priceAt);
  InputRecord.addTimestampNs(builder, timestampNs);
  if (msgHashAt !== 0) InputRecord.addMsgHash(builder, msgHashAt);
  InputRecord.addPublisherKey(builder, keyAt);
  InputRecord.addExternalAssetId(builder, externalIdAt);
  InputRecord.addPriceText(builder, priceTextAt);
  InputRecord.addR(builder, rAt);
  InputRecord.addS(builder, sAt);
  if (vAt !== 0) InputRecord.addV(builder, vAt);
  InputRecord.addMsgHashText(builder, msgHashTextAt);
  if (metadataAt !== 0) InputRecord.addMetadata(builder, metadataAt);
  builder.finishSizePrefixed(InputRecord.endInputRecord(builder));
  return builder.asUint8Array().slice();
}
