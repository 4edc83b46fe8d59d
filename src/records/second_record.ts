import { Builder } from 'flatbuffers';
import type { AggregationType } from '../model/asset.js';
import type { Price } from '../model/price.js';
import type { PublisherPrice, SignedAggregate } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import { TableReader } from '../wire/table_reader.js';
import type { CandleValues } from './candle_block.js';
import { AggregateRecord, Algorithm, Cause, SecondRecord, Signature, State } from './generated/record.js';
import { encodeInput, encodePrice, openInput } from './input_record.js';
import { packText, unpackText } from './packed_text.js';

/**
 * The state of an asset since `timeNs`. `priced`: the asset has an aggregate. `ended`: it has no price. `gap`: the store dropped the record
 * while the disk failed, so the aggregate is unknown.
 */
export type Holding = {
  readonly timeNs: TimeNs;
  /** The asset's running minute candle. It is in the same record as the aggregate, so that both agree after a restart. */
  readonly minute: MinuteCandle | undefined;
  /** The encoded record, made at its first use. */
  bytes?: Uint8Array;
} & (
  | { readonly state: 'priced'; readonly aggregate: SignedAggregate }
  | { readonly state: 'ended' | 'gap'; readonly aggregate?: undefined }
);

export interface MinuteCandle extends CandleValues {
  /** The number of the minute since 1970; above 0. */
  readonly minute: number;
}

const STATES: Record<Holding['state'], State> = { priced: State.Priced, ended: State.Ended, gap: State.Gap };
const ALGORITHMS: Record<AggregationType, Algorithm> = {
  median: Algorithm.Median,
  average: Algorithm.Average,
  'weighted average': Algorithm.WeightedAverage,
};
const ALGORITHM_NAMES = ['median', 'average', 'weighted average'] as const;

/** The builder of all records. It is empty between calls. A new builder for each record would take a third of the total time. */
const builder = new Builder(4_096);

/** Encodes a holding as a `SecondRecord` of record.fbs. The bytes are valid until the next call. */
export function encodeHolding(holding: Holding): Uint8Array {
  if (holding.bytes !== undefined) return holding.bytes;
  builder.clear();
  const aggregateAt = holding.aggregate === undefined ? 0 : buildAggregate(holding.aggregate);
  SecondRecord.startSecondRecord(builder);
  SecondRecord.addState(builder, STATES[holding.state]);
  SecondRecord.addTimeNs(builder, holding.timeNs);
  if (holding.minute !== undefined) {
    SecondRecord.addMinute(builder, holding.minute.minute);
    SecondRecord.addOpen(builder, holding.minute.open);
    SecondRecord.addHigh(builder, holding.minute.high);
    SecondRecord.addLow(builder, holding.minute.low);
    SecondRecord.addClose(builder, holding.minute.close);
  }
  if (aggregateAt !== 0) SecondRecord.addAggregate(builder, aggregateAt);
  builder.finish(SecondRecord.endSecondRecord(builder));
  return builder.asUint8Array();
}

/** Returns the record of a holding and keeps it there, so that an aggregate is encoded only once for all edges and the disk. */
export function holdingBytes(holding: Holding): Uint8Array {
  holding.bytes ??= new Uint8Array(encodeHolding(holding));
  return holding.bytes;
}

/** The indexes of the fields in record.fbs. */
const SECOND = { state: 0, timeNs: 1, minute: 2, open: 3, high: 4, low: 5, close: 6, aggregate: 7 } as const;
const AGGREGATE = {
  cause: 0,
  price: 1,
  timestampNs: 2,
  signedAtNs: 3,
  signature: 4,
  publicKey: 5,
  msgHash: 6,
  r: 7,
  s: 8,
  v: 9,
  merkleRoot: 10,
  algorithm: 11,
  inputs: 12,
} as const;

/** Reads a holding that {@link encodeHolding} wrote. The record does not contain the asset's symbol. */
export function decodeHolding(bytes: Uint8Array, symbol: string): Holding {
  const record = TableReader.rootOf(bytes, 0);
  const timeNs = record.int64(SECOND.timeNs) as TimeNs;
  const minute = readMinute(record);
  const aggregate = record.table(SECOND.aggregate);
  if (aggregate !== undefined)
    return { state: 'priced', timeNs, minute, aggregate: readAggregate(aggregate, symbol, []) };
  return { state: record.uint8(SECOND.state) === State.Ended ? 'ended' : 'gap', timeNs, minute };
}

/**
 * Opens a record like {@link decodeHolding} and keeps its bytes. The aggregate is decoded at its first use, because some callers never use
 * it, and decoding it takes 20 times as long as the rest.
 * @param before the asset's holding before this one; equal inputs of both are the same objects
 */
export function openHolding(bytes: Uint8Array, symbol: string, before?: Holding): Holding {
  const record = TableReader.rootOf(bytes, 0);
  const state = record.uint8(SECOND.state);
  const timeNs = record.int64(SECOND.timeNs) as TimeNs;
  const minute = readMinute(record);
  if (state !== State.Priced)
    return { state: state === State.Ended ? 'ended' : 'gap', timeNs, minute, bytes };
  const known = before instanceof OpenedHolding ? before.knownInputs : before?.aggregate?.inputs;
  return new OpenedHolding(bytes, timeNs, minute, { record, symbol, known: known ?? [] });
}

/** The source of an aggregate that is not decoded yet. */
interface EncodedAggregate {
  readonly record: TableReader;
  readonly symbol: string;
  readonly known: readonly PublisherPrice[];
}

/** A holding whose aggregate is decoded at its first use. V8 would define a getter of an object literal again for each holding. */
class OpenedHolding {
  readonly state = 'priced';
  readonly bytes: Uint8Array;
  readonly timeNs: TimeNs;
  readonly minute: MinuteCandle | undefined;
  #encoded: EncodedAggregate | undefined;
  #aggregate: SignedAggregate | undefined;

  constructor(
    bytes: Uint8Array,
    timeNs: TimeNs,
    minute: MinuteCandle | undefined,
    encoded: EncodedAggregate,
  ) {
    this.bytes = bytes;
    this.timeNs = timeNs;
    this.minute = minute;
    this.#encoded = encoded;
  }

  get aggregate(): SignedAggregate {
    if (this.#aggregate === undefined) {
      const { record, symbol, known } = this.#encoded!;
      this.#aggregate = readAggregate(required(record.table(SECOND.aggregate)), symbol, known);
      // The known inputs may be those of an older holding.
      this.#encoded = undefined;
    }
    return this.#aggregate;
  }

  /** The inputs that are decoded already. */
  get knownInputs(): readonly PublisherPrice[] {
    return this.#aggregate?.inputs ?? this.#encoded!.known;
  }
}

/** @throws RangeError for a field that the record lacks */
function required<T>(field: T | undefined): T {
  if (field === undefined) throw new RangeError('the record of an aggregate lacks a field');
  return field;
}

function readMinute(record: TableReader): MinuteCandle | undefined {
  const minute = record.uint32(SECOND.minute);
  if (minute === 0) return undefined;
  return {
    minute,
    open: record.float64(SECOND.open),
    high: record.float64(SECOND.high),
    low: record.float64(SECOND.low),
    close: record.float64(SECOND.close),
  };
}

function buildAggregate(aggregate: SignedAggregate): number {
  const bytes = (value: Uint8Array) => builder.createByteVector(value);
  const inputsAt = bytes(Buffer.concat(aggregate.inputs.map(encodeInput)));
  const priceAt = bytes(encodePrice(aggregate.price));
  const publicKeyAt = bytes(packText(aggregate.publicKey));
  const msgHashAt = bytes(aggregate.msgHash);
  const rAt = bytes(aggregate.r);
  const sAt = bytes(aggregate.s);
  const merkleRootAt = bytes(aggregate.merkleRoot);
  return AggregateRecord.createAggregateRecord(
    builder,
    aggregate.trigger === 'clock' ? Cause.Clock : Cause.Delta,
    priceAt,
    aggregate.timestampNs,
    aggregate.signedAtNs,
    aggregate.signatureType === 'evm' ? Signature.Evm : Signature.Stark,
    publicKeyAt,
    msgHashAt,
    rAt,
    sAt,
    aggregate.v ?? 0,
    merkleRootAt,
    ALGORITHMS[aggregate.algorithm],
    inputsAt,
  );
}

function readAggregate(
  record: TableReader,
  symbol: string,
  known: readonly PublisherPrice[],
): SignedAggregate {
  const bytes = (field: number) => required(record.bytes(field));
  const v = record.uint8(AGGREGATE.v);
  return {
    symbol,
    trigger: record.uint8(AGGREGATE.cause) === Cause.Clock ? 'clock' : 'delta',
    price: required(record.int128(AGGREGATE.price)) as Price,
    timestampNs: record.int64(AGGREGATE.timestampNs) as TimeNs,
    signedAtNs: record.int64(AGGREGATE.signedAtNs) as TimeNs,
    signatureType: record.uint8(AGGREGATE.signature) === Signature.Evm ? 'evm' : 'stark',
    publicKey: readPublicKey(bytes(AGGREGATE.publicKey)),
    msgHash: bytes(AGGREGATE.msgHash),
    r: bytes(AGGREGATE.r),
    s: bytes(AGGREGATE.s),
    v: v === 0 ? undefined : v,
    merkleRoot: bytes(AGGREGATE.merkleRoot),
    algorithm: ALGORITHM_NAMES[record.uint8(AGGREGATE.algorithm)]!,
    inputs: readInputs(bytes(AGGREGATE.inputs), known),
  };
}

/** The last public key. Successive aggregates have the same, and share its text. */
let lastKey = { packed: new Uint8Array(0), text: '' };

function readPublicKey(packed: Uint8Array): string {
  if (Buffer.compare(lastKey.packed, packed) !== 0)
    lastKey = { packed: packed.slice(), text: unpackText(packed) };
  return lastKey.text;
}

/** @returns `known` when all inputs are equal to the known inputs */
function readInputs(bytes: Uint8Array, known: readonly PublisherPrice[]): readonly PublisherPrice[] {
  const inputs: PublisherPrice[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const { input, byteLength } = openInput(rest, known[inputs.length]);
    inputs.push(input);
    rest = rest.subarray(byteLength);
  }
  const isKnown = inputs.length === known.length && inputs.every((input, i) => input === known[i]);
  return isKnown ? known : inputs;
}
