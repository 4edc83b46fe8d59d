import { type Price, parsePrice, writePrice } from '../model/price.js';
import type { PublisherPrice, PublisherWire } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import { PRICE_BYTES } from '../wire/quantized_price.js';
import { TableReader } from '../wire/table_reader.js';
import { packedBytesMax, packTextInto, unpackText } from './packed_text.js';
import { TableWriter } from './table_writer.js';

/**
 * Encodes an input as a size-prefixed `InputRecord` of record.fbs. The bytes are made once and kept with the input, because an input is
 * part of many aggregates.
 */
export function encodeInput(input: PublisherPrice): Uint8Array {
  let bytes = encodedInputs.get(input);
  if (bytes === undefined) {
    bytes = new Uint8Array(writeInput(input));
    encodedInputs.set(input, bytes);
  }
  return bytes;
}

/**
 * Encodes an input like {@link encodeInput}, for an input that is stored alone. Does not keep the bytes, because most such inputs never
 * become part of an aggregate. The bytes are valid until the next call.
 */
export function encodeInputOnce(input: PublisherPrice): Uint8Array {
  return encodedInputs.get(input) ?? writeInput(input);
}

/** The encoded inputs. An entry exists while its input does. */
const encodedInputs = new WeakMap<PublisherPrice, Uint8Array>();

/**
 * Opens the size-prefixed record at the start of `bytes` like {@link decodeInput}. The texts are read at their first use, because the past
 * needs only the bytes of an input that it has already. The caller must not change the bytes.
 * @param likely an input that is returned if it has this record
 * @throws RangeError when the bytes are not a record
 */
export function openInput(bytes: Uint8Array, likely?: PublisherPrice): OpenedInput {
  const byteLength = recordBytes(bytes);
  const own = bytes.subarray(0, byteLength);
  const known = likely && encodedInputs.get(likely);
  if (known !== undefined && Buffer.compare(known, own) === 0) return { input: likely!, byteLength };
  const record = tableOf(own);
  for (const [field, isRequired] of TEXT_FIELDS) {
    const length = record.length(field);
    if (length === undefined ? isRequired : length === 0)
      throw new RangeError('the record of an input lacks a text');
  }
  return {
    input: lazyInput(own, readPriceOf(record), record.int64(FIELD.timestampNs) as TimeNs),
    byteLength,
  };
}

function lazyInput(bytes: Uint8Array, price: Price, timestampNs: TimeNs): PublisherPrice {
  let wire: PublisherWire | undefined;
  const input: PublisherPrice = {
    price,
    timestampNs,
    get wire() {
      wire ??= readWire(bytes);
      return wire;
    },
  };
  encodedInputs.set(input, bytes);
  return input;
}

/** Reads the size-prefixed record at the start of `bytes`. */
export function decodeInput(bytes: Uint8Array): OpenedInput {
  return { input: readInput(bytes), byteLength: recordBytes(bytes) };
}

export interface OpenedInput {
  readonly input: PublisherPrice;
  /** The length of the record in bytes. */
  readonly byteLength: number;
}

/** The packed texts of an input. */
export type PackedInput = {
  readonly [Text in keyof PublisherWire]: PublisherWire[Text] extends string
    ? Uint8Array
    : Uint8Array | undefined;
};

/** Returns the packed texts of a size-prefixed record. The texts are parts of its bytes. */
export function packedTextsOf(bytes: Uint8Array): PackedInput {
  const record = tableOf(bytes);
  return {
    publisherKey: record.bytes(FIELD.publisherKey)!,
    externalAssetId: record.bytes(FIELD.externalAssetId)!,
    price: record.bytes(FIELD.priceText)!,
    r: record.bytes(FIELD.r)!,
    s: record.bytes(FIELD.s)!,
    v: record.bytes(FIELD.v),
    msgHash: record.bytes(FIELD.msgHashText)!,
    metadata: record.bytes(FIELD.metadata),
  };
}

/** Returns the length of the size-prefixed record at the start of `bytes`. @throws RangeError when the bytes end before the record */
function recordBytes(bytes: Uint8Array): number {
  const length = 4 + (bytes[0]! | (bytes[1]! << 8) | (bytes[2]! << 16) | (bytes[3]! << 24));
  // A length of zero or less would never end a list of records.
  if (length > 4 && length <= bytes.length) return length;
  throw new RangeError('the record of an input is not complete');
}

function tableOf(bytes: Uint8Array): TableReader {
  return TableReader.rootOf(bytes, 4);
}

function readInput(bytes: Uint8Array): PublisherPrice {
  const record = tableOf(bytes);
  return {
    price: readPriceOf(record),
    timestampNs: record.int64(FIELD.timestampNs) as TimeNs,
    wire: readWire(bytes),
  };
}

function readPriceOf(record: TableReader): Price {
  // The encoder wrote the text of a valid price.
  return (record.int128(FIELD.price) ?? BigInt(unpackText(record.bytes(FIELD.priceText)!))) as Price;
}

function readWire(bytes: Uint8Array): PublisherWire {
  const { publisherKey, externalAssetId, price, r, s, v, msgHash, metadata } = packedTextsOf(bytes);
  return {
    publisherKey: unpackText(publisherKey),
    externalAssetId: unpackText(externalAssetId),
    price: unpackText(price),
    r: unpackText(r),
    s: unpackText(s),
    v: v && unpackText(v),
    msgHash: unpackText(msgHash),
    metadata: metadata && unpackText(metadata),
  };
}

/** Encodes a price in the 16-byte form of records. */
export function encodePrice(price: Price): Uint8Array {
  const bytes = Buffer.allocUnsafe(PRICE_BYTES);
  writePrice(price, bytes, 0);
  return bytes;
}

const writer = new TableWriter();

/** The indexes of the fields in record.fbs. */
const FIELD = {
  price: 0,
  timestampNs: 1,
  /** The field for the hash, which is no longer written. */
  msgHash: 2,
  publisherKey: 3,
  externalAssetId: 4,
  priceText: 5,
  r: 6,
  s: 7,
  v: 8,
  msgHashText: 9,
  metadata: 10,
} as const;
const FIELDS = Object.keys(FIELD).length;
/** The field of each text. */
const TEXT_FIELD: Readonly<Record<keyof PublisherWire, number>> = {
  publisherKey: FIELD.publisherKey,
  externalAssetId: FIELD.externalAssetId,
  price: FIELD.priceText,
  r: FIELD.r,
  s: FIELD.s,
  v: FIELD.v,
  msgHash: FIELD.msgHashText,
  metadata: FIELD.metadata,
};

/** The texts in the order in which they are written. */
const TEXT_NAMES = [
  'publisherKey',
  'r',
  's',
  'v',
  'msgHash',
  'externalAssetId',
  'price',
  'metadata',
] as const;

/** The fields of the texts, with whether each record has the text. */
const TEXT_FIELDS = Object.values(TEXT_FIELD).map(
  (field) => [field, field !== FIELD.v && field !== FIELD.metadata] as const,
);

function writeInput({ price, timestampNs, wire }: PublisherPrice): Uint8Array {
  writer.begin(FIELDS, FIELDS - 1);
  writer.int64(FIELD.timestampNs, timestampNs);
  // Most texts of a price represent the price.
  if (parsePrice(wire.price) !== price) addBytes(FIELD.price, encodePrice(price));
  for (const name of TEXT_NAMES) {
    const text = wire[name];
    if (text !== undefined) addText(TEXT_FIELD[name], text);
  }
  return writer.finish();
}

function addText(field: number, text: string): void {
  const start = writer.beginVector(field, 1, packedBytesMax(text));
  writer.endVector(start, packTextInto(text, writer.bytes, start), 1);
}

function addBytes(field: number, bytes: Uint8Array): void {
  const start = writer.beginVector(field, 1, bytes.length);
  writer.bytes.set(bytes, start);
  writer.endVector(start, bytes.length, 1);
}
