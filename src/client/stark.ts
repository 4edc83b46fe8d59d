import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { Fp251, getStarkKey, MAX_VALUE, pedersen, Signature, sign, verify } from '@scure/starknet';
import { NS_PER_SECOND } from '../model/time.js';
import { ORACLE_ID_LENGTH } from '../wire/signatures.js';
import { integerBytes } from './bytes.js';

/** Hex digits of an asset ID inside a Stark message; a shorter ID is padded with zeros on the right. */
const ASSET_HEX_DIGITS = 32;
const ORACLE_HEX_DIGITS = ORACLE_ID_LENGTH * 2;
/** The price is shifted left by these bits to make room for the second. */
const SECOND_BITS = 32n;
const ASCII = /^[\x20-\x7e]+$/;
const HEX_ID = /^0x[0-9a-fA-F]+$/;

/** A Stark-curve ECDSA signature; unlike on secp256k1, `s` may be high. */
export interface StarkSignature {
  readonly r: bigint;
  readonly s: bigint;
}

/**
 * The `external_asset_id` of Stark prices: the asset and the oracle, both ASCII, in hex.
 * @returns the text, or `undefined` when `oracleId` is not 5 ASCII characters, or `assetId` is not ASCII or too long
 *   for the field.
 */
export function starkExternalAssetId(assetId: string, oracleId: string): string | undefined {
  if (!ASCII.test(oracleId) || oracleId.length !== ORACLE_ID_LENGTH || !ASCII.test(assetId)) return undefined;
  const id = `0x${asciiHex(assetId).padEnd(ASSET_HEX_DIGITS, '0')}${asciiHex(oracleId)}`;
  return BigInt(id) < Fp251.ORDER ? id : undefined;
}

/** Whether `externalAssetId` names `assetId`, whichever oracle it carries. */
export function isStarkAsset(externalAssetId: string, assetId: string): boolean {
  if (!HEX_ID.test(externalAssetId)) return false;
  const assetHex = externalAssetId.slice(2, -ORACLE_HEX_DIGITS).toLowerCase();
  return assetHex === asciiHex(assetId).padEnd(ASSET_HEX_DIGITS, '0');
}

/** The asset's and the oracle's texts inside an `external_asset_id`, or `undefined` when it is no such hex. */
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
 * `msg_hash` of a Stark price, a field element. The signature covers whole seconds only.
 * @returns the hash, or `undefined` for a negative price or a number past the field, which have no meaning here.
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
  return x < Fp251.ORDER && y < Fp251.ORDER ? hash(x, y) : undefined;
}

/** The Pedersen hash of two field elements. */
export function pedersenHash(x: bigint, y: bigint): bigint {
  return BigInt(pedersen(x, y));
}

/** The public key on the wire: the x coordinate in `0x` hex without leading zeros. */
export function starkPublicKey(secretKey: Uint8Array): string {
  return getStarkKey(secretKey);
}

/**
 * Signs a `msg_hash` with an RFC 6979 nonce.
 * @throws RangeError for one hash in about 10^60, which the curve's rules cannot sign.
 */
export function starkSign(msgHash: bigint, secretKey: Uint8Array): StarkSignature {
  const { r, s } = sign(msgHash.toString(16), secretKey);
  return { r, s };
}

/** Whether the key with the x coordinate `publicKey` signed `msgHash`. */
export function starkVerify(signature: StarkSignature, msgHash: bigint, publicKey: bigint): boolean {
  const { r, s } = signature;
  if (r < 1n || r >= MAX_VALUE || msgHash >= MAX_VALUE || publicKey >= Fp251.ORDER) return false;
  const x = bytesToHex(integerBytes(publicKey, 32));
  try {
    const parsed = new Signature(r, s);
    const hash = msgHash.toString(16);
    // The wire drops the y coordinate, so both points with this x are possible signers.
    return verify(parsed, hash, `02${x}`) || verify(parsed, hash, `03${x}`);
  } catch {
    // The library throws for an s out of range and for an x that lies on no point of the curve.
    return false;
  }
}

function asciiHex(text: string): string {
  return bytesToHex(utf8ToBytes(text));
}

function asciiText(hex: string): string {
  return hex.replace(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16)));
}
