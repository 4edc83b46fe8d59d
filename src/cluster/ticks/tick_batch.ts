import { Builder } from 'flatbuffers';
import { readPrice, writePrice } from '../../model/price.js';
import { type LivePrice, QUALITY_BYTES, readQuality, writeQuality } from '../../model/price_with_quality.js';
import { PRICE_BYTES } from '../../wire/quantized_price.js';
import { TickBatch as TickBatchTable } from '../generated/wire.js';
import { countInside, exactNumber, fieldInside, readMessage, UnreadableMessage } from '../unreadable.js';

/** The live prices from a leader, by streaming ID. */
export interface TickBatch {
  readonly epoch: number;
  /**
   * The number of the batch. The first batch of an epoch has number 1. A requested batch with all prices repeats the number of the previous
   * batch.
   */
  readonly number: number;
  /** True when the batch contains all live prices. */
  readonly full: boolean;
  readonly prices: ReadonlyMap<number, LivePrice>;
  readonly ended: readonly number[];
  /** The hash of the leader's meaning of all streaming IDs. */
  readonly taxonomy: bigint;
}

/** The builder of all messages. It is empty between calls. */
const builder = new Builder(4_096);

export function encodeTickBatch({ epoch, number, full, prices, ended, taxonomy }: TickBatch): Uint8Array {
  builder.clear();
  const endedAt = ended.length === 0 ? 0 : TickBatchTable.createEndedVector(builder, ended as number[]);
  const pricesAt = prices.size === 0 ? 0 : builder.createByteVector(priceBytes(prices));
  const qualitiesAt = prices.size === 0 ? 0 : builder.createByteVector(qualityBytes(prices));
  const idsAt = prices.size === 0 ? 0 : TickBatchTable.createIdsVector(builder, [...prices.keys()]);
  TickBatchTable.startTickBatch(builder);
  TickBatchTable.addEpoch(builder, BigInt(epoch));
  TickBatchTable.addNumber(builder, BigInt(number));
  TickBatchTable.addFull(builder, full);
  TickBatchTable.addTaxonomy(builder, taxonomy);
  if (idsAt !== 0) TickBatchTable.addIds(builder, idsAt);
  if (pricesAt !== 0) TickBatchTable.addPrices(builder, pricesAt);
  if (qualitiesAt !== 0) TickBatchTable.addQualities(builder, qualitiesAt);
  if (endedAt !== 0) TickBatchTable.addEnded(builder, endedAt);
  builder.finish(TickBatchTable.endTickBatch(builder));
  return new Uint8Array(builder.asUint8Array());
}

/**
 * Reads a batch that {@link encodeTickBatch} wrote.
 * @throws UnreadableMessage
 */
export function decodeTickBatch(bytes: Uint8Array): TickBatch {
  return readMessage('batch of ticks', bytes, (buffer) => {
    const table = TickBatchTable.getRootAsTickBatch(buffer);
    const count = countInside(buffer, table.idsLength(), 2);
    const endedCount = countInside(buffer, table.endedLength(), 2);
    const column = fieldInside(buffer, table.pricesArray());
    if (column.length !== count * PRICE_BYTES) throw new UnreadableMessage('a batch of ticks lacks prices');
    const qualities = fieldInside(buffer, table.qualitiesArray());
    if (qualities.length !== count * QUALITY_BYTES)
      throw new UnreadableMessage('a batch of ticks lacks the qualities of prices');
    const prices = new Map<number, LivePrice>();
    // The loop reads the IDs one by one, because the message may begin at an odd address and a view of 16-bit numbers needs an even
    // address.
    for (let i = 0; i < count; i++) {
      const quality = readQuality(qualities, i * QUALITY_BYTES);
      prices.set(table.ids(i)!, { price: readPrice(column, i * PRICE_BYTES), quality });
    }
    return {
      epoch: exactNumber(table.epoch()),
      number: exactNumber(table.number()),
      full: table.full(),
      prices,
      ended: Array.from({ length: endedCount }, (_, i) => table.ended(i)!),
      taxonomy: table.taxonomy(),
    };
  });
}

function qualityBytes(prices: ReadonlyMap<number, LivePrice>): Uint8Array {
  const bytes = new Uint8Array(prices.size * QUALITY_BYTES);
  let at = 0;
  for (const { quality } of prices.values()) {
    writeQuality(quality, bytes, at);
    at += QUALITY_BYTES;
  }
  return bytes;
}

function priceBytes(prices: ReadonlyMap<number, LivePrice>): Uint8Array {
  const bytes = new Uint8Array(prices.size * PRICE_BYTES);
  let at = 0;
  for (const { price } of prices.values()) {
    writePrice(price, bytes, at);
    at += PRICE_BYTES;
  }
  return bytes;
}
