import { createHash } from 'node:crypto';
import type { AssetName } from '../../model/asset_map.js';
import type { CandleKey } from '../log/shared_candles.js';

/** The time span of a block of candles. The number is the hour or day since 1970. */
export interface CandleSpan {
  readonly unit: 'hour' | 'day';
  readonly number: number;
}

/** The number of hours in the shared candles: two days. Older hours are in a sealed day. */
const HOURS_KEPT = 48;
const NUMBER_BYTES = 4;
/** The number of digits of an asset's hash, which replaces the symbol because a symbol may have any characters. */
const ASSET_DIGITS = 32;

/** Returns the word that identifies an asset in the shared candles. */
export function candleAsset({ symbol, signatureType }: AssetName): string {
  return createHash('sha256').update(`${signatureType} ${symbol}`).digest('hex').slice(0, ASSET_DIGITS);
}

export function candleKey(asset: AssetName, { unit, number }: CandleSpan): CandleKey {
  return [candleAsset(asset), unit, String(unit === 'hour' ? number % HOURS_KEPT : number)];
}

/** Encodes a block. The number of the hour or day precedes the candles, because a later hour has the same key. */
export function candleBlockBytes(number: number, candles: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(NUMBER_BYTES + candles.length);
  bytes.writeUInt32BE(number);
  bytes.set(candles, NUMBER_BYTES);
  return bytes;
}

/**
 * Decodes a block. The returned candles are a copy with the alignment that their reader needs.
 * @returns `undefined` for a block of another form
 */
export function readCandleBlockBytes(
  [asset, unit]: CandleKey,
  bytes: Uint8Array,
): (CandleSpan & { readonly asset: string; readonly candles: Uint8Array }) | undefined {
  if (asset === undefined || (unit !== 'hour' && unit !== 'day') || bytes.length <= NUMBER_BYTES)
    return undefined;
  const number = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).readUInt32BE();
  return { asset, unit, number, candles: new Uint8Array(bytes.subarray(NUMBER_BYTES)) };
}
