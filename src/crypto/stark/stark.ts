import type { Price } from '../../model/price.js';
import { secondOf, type TimeNs } from '../../model/time.js';
import { ORACLE_ID_LENGTH } from '../../wire/signatures.js';
import { FIELD_PRIME } from './stark_curve.js';

/** The two operands of the Pedersen hash that is signed. Each operand is a field element of 32 big-endian bytes. */
export interface StarkMessage {
  readonly x: Uint8Array;
  readonly y: Uint8Array;
}

/**
 * Returns the symbol's ASCII bytes in hex without `0x`, padded with zeros on the right to 32 digits.
 * @returns `undefined` when the symbol is empty or not ASCII.
 */
export function starkAssetHex(symbol: string): string | undefined {
  return ASCII.test(symbol) ? Buffer.from(symbol, 'ascii').toString('hex').padEnd(32, '0') : undefined;
}

/**
 * Returns the `external_asset_id` of a Stark price: `0x`, the asset's hex, and the oracle's five characters in hex.
 * @returns `undefined` when the symbol is not ASCII, when the oracle ID is not five ASCII characters, or when the symbol has more
 * than 26 characters, because the number is then not a field element.
 */
export function starkExternalAssetId(symbol: string, oracleId: string): string | undefined {
  const assetHex = starkAssetHex(symbol);
  if (assetHex === undefined || oracleId.length !== ORACLE_ID_LENGTH || !ASCII.test(oracleId))
    return undefined;
  const externalAssetId = `0x${assetHex}${Buffer.from(oracleId, 'ascii').toString('hex')}`;
  return BigInt(externalAssetId) < FIELD_PRIME ? externalAssetId : undefined;
}

/**
 * Returns the message that a Stark publisher signs. x is the external asset ID as a number, and y is price * 2^32 + UNIX
 * second.
 * @returns `undefined` when {@link starkExternalAssetId} returns `undefined`, and for a price below 0, because Stark messages
 * cannot represent such a price.
 */
export function starkPriceMessage(
  symbol: string,
  oracleId: string,
  timestampNs: TimeNs,
  price: Price,
): StarkMessage | undefined {
  const externalAssetId = starkExternalAssetId(symbol, oracleId);
  if (externalAssetId === undefined || price < 0n) return undefined;
  return {
    x: fieldBytes(BigInt(externalAssetId)),
    y: fieldBytes(((price as bigint) << 32n) + secondOf(timestampNs)),
  };
}

/** Returns a number of up to 256 bits as 32 big-endian bytes. */
export function fieldBytes(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
}

/** Reads a number from 32 big-endian bytes. */
export function fieldNumber(bytes32: Uint8Array): bigint {
  // Conversion through hex is the fastest way in V8: 0.3 µs.
  return BigInt(`0x${Buffer.from(bytes32.buffer, bytes32.byteOffset, bytes32.length).toString('hex')}`);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the signing rules allow all ASCII, also control characters.
const ASCII = /^[\x00-\x7f]+$/;
