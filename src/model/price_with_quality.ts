import type { InputQuality } from '../wire/price_quality.js';
import type { Price } from './price.js';

/** The live price of an asset, and the quality of the inputs that make it. */
export interface LivePrice {
  readonly price: Price;
  readonly quality: InputQuality;
}

/** The size of a quality in messages to threads and nodes: newest time (int64), publishers (uint16), spread (uint32). */
export const QUALITY_BYTES = 14;
const PUBLISHERS_AT = 8;
const SPREAD_AT = 10;

/** The largest number of publishers in a quality; it also stands for all greater numbers. */
export const PUBLISHERS_MAX = 0xffff;
/** The largest spread in a quality; it also stands for all greater spreads. */
export const SPREAD_PPM_MAX = 0xffff_ffff;

/** Returns true if the price and its quality are the same. */
export function isSameLivePrice(one: LivePrice, other: LivePrice | undefined): boolean {
  return (
    other !== undefined &&
    one.price === other.price &&
    one.quality.newestNs === other.quality.newestNs &&
    one.quality.publishers === other.quality.publishers &&
    one.quality.spreadPpm === other.quality.spreadPpm
  );
}

/** Writes a quality in {@link QUALITY_BYTES} big-endian bytes at `offset`. */
export function writeQuality(
  { newestNs, publishers, spreadPpm }: InputQuality,
  out: Uint8Array,
  offset: number,
): void {
  SCRATCH.setBigInt64(0, newestNs);
  SCRATCH.setUint16(PUBLISHERS_AT, publishers);
  SCRATCH.setUint32(SPREAD_AT, spreadPpm);
  out.set(SCRATCH_BYTES, offset);
}

/** Reads a quality from the bytes that {@link writeQuality} writes. */
export function readQuality(bytes: Uint8Array, offset: number): InputQuality {
  SCRATCH_BYTES.set(bytes.subarray(offset, offset + QUALITY_BYTES));
  return {
    newestNs: SCRATCH.getBigInt64(0),
    publishers: SCRATCH.getUint16(PUBLISHERS_AT),
    spreadPpm: SCRATCH.getUint32(SPREAD_AT),
  };
}

const SCRATCH = new DataView(new ArrayBuffer(QUALITY_BYTES));
const SCRATCH_BYTES = new Uint8Array(SCRATCH.buffer);
