import { NS_PER_SECOND } from '../../model/time.js';
import { ORACLE_ID_LENGTH } from '../../wire/signatures.js';
import { bytesToHex, utf8ToBytes } from './bytes.js';
import { pedersenHash } from './stark_pedersen.js';
import { FIELD_PRIME } from './stark_points.js';

/** The number of hex digits of an asset ID inside a Stark message. A shorter ID is padded with zeros on the right. */
const ASSET_HEX_DIGITS = 32;
const ORACLE_HEX_DIGITS = ORACLE_ID_LENGTH * 2;
/** The number of bits by which the price is shifted left. The second takes these bits. */
const SECOND_BITS = 32n;
const ASCII = /^[\x20-\x7e]+$/;
const HEX_ID = /^0x[0-9a-fA-F]+$/;

/**
 * Returns the `external_asset_id` of Stark prices: the asset and the oracle, both ASCII, in hex.
 * @returns the text, or `undefined` when `oracleId` is not 5 ASCII characters, or `assetId` is not ASCII or is too long for
 * the field
 */
export function starkExternalAssetId(assetId: string, oracleId: string): string | undefined {
  if (!ASCII.test(oracleId) || oracleId.length !== ORACLE_ID_LENGTH || !ASCII.test(assetId)) return undefined;
  const id = `0x${asciiHex(assetId).padEnd(ASSET_HEX_DIGITS, '0')}${asciiHex(oracleId)}`;
  return BigInt(id) < FIELD_PRIME ? id : undefined;
}

/** Returns whether `externalAssetId` names `assetId`, with any oracle. */
export function isStarkAsset(externalAssetId: string, assetId: string): boolean {
  if (!HEX_ID.test(externalAssetId)) return false;
  const assetHex = externalAssetId.slice(2, -ORACLE_HEX_DIGITS).toLowerCase();
  return assetHex === asciiHex(assetId).padEnd(ASSET_HEX_DIGITS, '0');
}

/**
 * Returns the texts of the asset and the oracle in an `external_asset_id`; `undefined` when `externalAssetId` does not have
 * that form.
 */
export function parseStarkAssetId(
  externalAssetId: string,
): { assetId: string; oracleId: string } | undefined {
  const digits = externalAssetId.slice(2);
  if (!HEX_ID.test(externalAssetId) || digits.length <= ORACLE_HEX_DIGITS || digits.length % 2 === 1)
    return undefined;
  const assetId = asciiText(digits.slice(0, -ORACLE_HEX_DIGITS)).replace(/\0+$/, '');
  const oracleId = asciiText(digits.slice(-ORACLE_HEX_DIGITS));
  return ASCII.test(assetId) && ASCII.test(oracleId) ? { assetId, oracleId } : undefined;
}

/**
 * Returns the `msg_hash` of a Stark price, a field element. The signature covers whole seconds only.
 * @returns the hash, or `undefined` for a negative price or a number outside the field, because the message cannot represent
 * them
 */
export function starkPriceHash(
  externalAssetId: string,
  timestampNs: bigint,
  price: bigint,
  hash = pedersenHash,
): bigint | undefined {
  if (price < 0n || !HEX_ID.test(externalAssetId)) return undefined;
  const x = BigInt(externalAssetId);
  const y = (price << SECOND_BITS) + timestampNs / NS_PER_SECOND;
  return x < FIELD_PRIME && y < FIELD_PRIME ? hash(x, y) : undefined;
}

function asciiHex(text: string): string {
  return bytesToHex(utf8ToBytes(text));
}

function asciiText(hex: string): string {
  return hex.replace(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16)));
}
