import { Builder, ByteBuffer } from 'flatbuffers';
import { CandleBlock } from './candle_block.js';
import { CandleRecord } from './generated/record.js';

/** Encodes a block of candles as a `CandleRecord` of record.fbs. */
export function encodeCandles(block: CandleBlock): Uint8Array {
  const builder = new Builder(64 + block.length * 34);
  const count = block.length;
  const slot = CandleRecord.createSlotVector(builder, block.slot.subarray(0, count));
  const open = CandleRecord.createOpenVector(builder, block.open.subarray(0, count));
  const high = CandleRecord.createHighVector(builder, block.high.subarray(0, count));
  const low = CandleRecord.createLowVector(builder, block.low.subarray(0, count));
  const close = CandleRecord.createCloseVector(builder, block.close.subarray(0, count));
  builder.finish(CandleRecord.createCandleRecord(builder, slot, open, high, low, close));
  return builder.asUint8Array();
}

/** Reads the bytes that {@link encodeCandles} wrote. The columns are views of `bytes`, so the doubles in `bytes` must be aligned. */
export function decodeCandles(bytes: Uint8Array): CandleBlock {
  const record = CandleRecord.getRootAsCandleRecord(new ByteBuffer(bytes));
  return new CandleBlock(
    record.slotLength(),
    record.slotArray() ?? new Uint16Array(),
    record.openArray() ?? new Float64Array(),
    record.highArray() ?? new Float64Array(),
    record.lowArray() ?? new Float64Array(),
    record.closeArray() ?? new Float64Array(),
  );
}
