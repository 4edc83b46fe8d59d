import { Builder, ByteBuffer } from 'flatbuffers';
import type { AggregationType } from '../model/asset.js';
import type { PublisherPrice, SignedAggregate } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import type { CandleValues } from './candle_block.js';
import { AggregateRecord, Algorithm, Cause, SecondRecord, Signature, State } from './generated/record.js';
import { decodePrice, encodeInput, encodePrice, openInput } from './input_record.js';
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

/** Reads a holding that {@link encodeHolding} wrote. The record does not contain the asset's symbol. */
export function decodeHolding(bytes: Uint8Array, symbol: string): Holding {
  const { state, timeNs, minute, record } = readFrame(bytes);
  const aggregate = record.aggregate();
  if (aggregate !== null)
    return { state: 'priced', timeNs, minute, aggregate: readAggregate(aggregate, symbol) };
  return { state: state === State.Ended ? 'ended' : 'gap', timeNs, minute };
}

/**
 * Opens a record like {@link decodeHolding} and keeps its bytes. The aggregate is decoded at its first use, because some callers never use
 * it, and decoding it takes 20 times as long as the rest.
 */
export function openHolding(bytes: Uint8Array, symbol: string): Holding {
  const { state, timeNs, minute, record } = readFrame(bytes);
  if (state !== State.Priced)
    return { state: state === State.Ended ? 'ended' : 'gap', timeNs, minute, bytes };
  let aggregate: SignedAggregate | undefined;
  return {
    state: 'priced',
    timeNs,
    minute,
    bytes,
    get aggregate() {
      aggregate ??= readAggregate(record.aggregate()!, symbol);
      return aggregate;
    },
  };
}

/** Reads all fields of a record except the aggregate. */
function readFrame(bytes: Uint8Array) {
  const record = SecondRecord.getRootAsSecondRecord(new ByteBuffer(bytes));
  const timeNs = record.timeNs() as TimeNs;
  const minute =
    record.minute() === 0
      ? undefined
      : {
          minute: record.minute(),
          open: record.open(),
          high: record.high(),
          low: record.low(),
          close: record.close(),
        };
  return { state: record.state(), timeNs, minute, record };
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

function readAggregate(record: AggregateRecord, symbol: string): SignedAggregate {
  const inputs: PublisherPrice[] = [];
  let rest = record.inputsArray()!;
  while (rest.length > 0) {
    const { input, byteLength } = openInput(rest);
    inputs.push(input);
    rest = rest.subarray(byteLength);
  }
  return {
    symbol,
    trigger: record.cause() === Cause.Clock ? 'clock' : 'delta',
    price: decodePrice(record.priceArray()!),
    timestampNs: record.timestampNs() as TimeNs,
    signedAtNs: record.signedAtNs() as TimeNs,
    signatureType: record.signature() === Signature.Evm ? 'evm' : 'stark',
    publicKey: unpackText(record.publicKeyArray()!),
    msgHash: record.msgHashArray()!,
    r: record.rArray()!,
    s: record.sArray()!,
    v: record.v() === 0 ? undefined : record.v(),
    merkleRoot: record.merkleRootArray()!,
    algorithm: ALGORITHM_NAMES[record.algorithm()]!,
    inputs,
  };
}
