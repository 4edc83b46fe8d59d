import type { Price } from '../model/price.js';
import { writeText } from '../model/text.js';
import { secondOf, type TimeNs } from '../model/time.js';
import { evmSigner, isSame, rememberEvmSigner } from './evm_signers.js';
import { hashWritten, keccak256, keccakRoom, keccakRoomView } from './keccak.js';
import { secp256k1 } from './secp256k1/secp256k1.js';
import { GROUP_ORDER } from './wasm/secp256k1_field_code.js';

export const EVM_ADDRESS_BYTES = 20;

/** The encodings of `encoded_asset_id`; `service.encoded_asset_id` of the configuration chooses one. */
export type AssetIdEncoding = 'base64' | 'keccak256';

/** The fields that the service's EVM signature of an aggregate covers. */
export interface EvmAggregate {
  /** The service's address: 20 bytes. */
  readonly address: Uint8Array;
  readonly symbol: string;
  /** The time at which the service signs, in nanoseconds. Publishers sign whole seconds. */
  readonly signedAtNs: TimeNs;
  readonly price: Price;
  /** The Merkle root of the inputs: 32 bytes. */
  readonly merkleRoot: Uint8Array;
  /** The algorithm's checksum: 32 bytes. */
  readonly checksum: Uint8Array;
}

/**
 * Returns a publisher's `msg_hash`: keccak(address, symbol, u256 second, i256 price). The hash does not cover the nanoseconds
 * within the second.
 * @returns 32 new bytes.
 */
export function evmPriceHash(
  address20: Uint8Array,
  externalAssetId: string,
  timestampNs: TimeNs,
  price: Price,
): Buffer {
  return Buffer.from(writtenPriceHash(address20, externalAssetId, timestampNs, price));
}

/** Returns whether `hash32` is the {@link evmPriceHash} of these fields. */
export function isEvmPriceHash(
  hash32: Uint8Array,
  address20: Uint8Array,
  externalAssetId: string,
  timestampNs: TimeNs,
  price: Price,
): boolean {
  return isSame(hash32, writtenPriceHash(address20, externalAssetId, timestampNs, price));
}

/** @returns the digest, which is valid until the next hash */
function writtenPriceHash(
  address20: Uint8Array,
  externalAssetId: string,
  timestampNs: TimeNs,
  price: Price,
): Buffer {
  keccakRoom.set(address20);
  const wordsAt = EVM_ADDRESS_BYTES + writeText(externalAssetId, keccakRoom, EVM_ADDRESS_BYTES);
  writeWord(secondOf(timestampNs), wordsAt);
  writeWord(price, wordsAt + 32);
  return hashWritten(wordsAt + 64);
}

/** The hashes of symbols. A service has the same symbols in each tick. */
const symbolHashes = new Map<string, Uint8Array>();
/** The largest number of kept hashes: 4 MB. More symbols than this clear the hashes. */
const SYMBOL_HASHES_MAX = 16_384;

function symbolHash(symbol: string): Uint8Array {
  let hash = symbolHashes.get(symbol);
  if (hash === undefined) {
    if (symbolHashes.size === SYMBOL_HASHES_MAX) symbolHashes.clear();
    // A small Buffer would keep the memory alive that it shares with others.
    hash = new Uint8Array(keccak256(Buffer.from(symbol)));
    symbolHashes.set(symbol, hash);
  }
  return hash;
}

/**
 * Returns the `msg_hash` of an aggregate: keccak(address, keccak(symbol), u256 nanoseconds, i256 price, Merkle root, checksum).
 * @returns 32 new bytes.
 */
export function evmAggregateHash(aggregate: EvmAggregate): Buffer {
  return Buffer.from(writtenAggregateHash(aggregate));
}

/** Returns whether `hash32` is the {@link evmAggregateHash} of an aggregate. */
export function isEvmAggregateHash(hash32: Uint8Array, aggregate: EvmAggregate): boolean {
  return writtenAggregateHash(aggregate).equals(hash32);
}

/** @returns the digest, which is valid until the next hash */
function writtenAggregateHash(aggregate: EvmAggregate): Buffer {
  const hash = symbolHash(aggregate.symbol);
  keccakRoom.set(aggregate.address);
  keccakRoom.set(hash, 20);
  writeWord(aggregate.signedAtNs, 52);
  writeWord(aggregate.price, 84);
  keccakRoom.set(aggregate.merkleRoot, 116);
  keccakRoom.set(aggregate.checksum, 148);
  return hashWritten(180);
}

/**
 * Returns the digest to sign for a `msg_hash`: the EIP-191 "personal message" digest of its 32 bytes.
 * @returns 32 new bytes.
 */
export function eip191(hash32: Uint8Array): Buffer {
  return Buffer.from(writtenEip191(hash32));
}

/**
 * Does the same as {@link eip191} without a copy.
 * @returns the digest, which is valid until the next hash
 */
export function writtenEip191(hash32: Uint8Array): Buffer {
  keccakRoom.set(EIP191_PREFIX);
  keccakRoom.set(hash32, EIP191_PREFIX.length);
  return hashWritten(EIP191_PREFIX.length + 32);
}

/**
 * Checks that r and s are in 1 .. n-1 and that s is at most n/2. Such a signature has no second valid form. The check needs no
 * curve arithmetic.
 */
export function isCanonicalSignature(rs64: Uint8Array): boolean {
  // n begins with ff and n/2 begins with 7f, so the first bytes decide for 98 of 100 signatures.
  const r0 = rs64[0]!;
  const s0 = rs64[32]!;
  if (r0 > 0 && r0 < 0xff && s0 > 0 && s0 < 0x7f) return true;
  const r = rs64.subarray(0, 32);
  const s = rs64.subarray(32, 64);
  return (
    Buffer.compare(r, ZERO) > 0 &&
    Buffer.compare(r, ORDER) < 0 &&
    Buffer.compare(s, ZERO) > 0 &&
    Buffer.compare(s, HALF_ORDER) <= 0
  );
}

/**
 * Checks that the key of `address20` made this signature of `digest32`, and that the signature is canonical. The caller has already
 * applied any prefix to `digest32`. Never throws.
 */
export function isSignedBy(
  address20: Uint8Array,
  digest32: Uint8Array,
  rs64: Uint8Array,
  recovery: 0 | 1,
): boolean {
  if (!isCanonicalSignature(rs64)) return false;
  const publicKey = secp256k1.recover(digest32, rs64, recovery, RECOVERED);
  return publicKey !== undefined && isAddressOf(address20, publicKey);
}

/** Checks a signature of the {@link eip191} digest of a `msg_hash`, like {@link isSignedBy}. */
export function isHashSignedBy(
  address20: Uint8Array,
  msgHash32: Uint8Array,
  rs64: Uint8Array,
  recovery: 0 | 1,
): boolean {
  return isSignedBy(address20, writtenEip191(msgHash32), rs64, recovery);
}

const RECOVERED = Buffer.alloc(65);

/**
 * Returns the address whose key signed a digest.
 * @param rsv65 r, s, and v of 0 or 1
 * @returns 20 bytes; `undefined` for a signature that no key can make, and for a signature with a high s
 */
export function recoverAddress(digest32: Uint8Array, rsv65: Uint8Array): Buffer | undefined {
  const recovery = rsv65[64];
  if (recovery !== 0 && recovery !== 1) return undefined;
  const rs = Buffer.from(rsv65.subarray(0, 64));
  const s = BigInt(`0x${rs.toString('hex', 32)}`);
  if (s === 0n || s > GROUP_ORDER / 2n) return undefined;
  const publicKey = secp256k1.recover(digest32, rs, recovery);
  return publicKey && Buffer.from(evmAddress(publicKey));
}

function isAddressOf(address20: Uint8Array, publicKey65: Uint8Array): boolean {
  const signer = evmSigner(address20);
  if (signer !== undefined && isSame(signer.publicKey, publicKey65)) return true;
  if (!isSame(evmAddress(publicKey65), address20)) return false;
  rememberEvmSigner(address20, publicKey65);
  return true;
}

/** Returns the 20-byte address of an uncompressed public key of 65 bytes, whose first byte is 4. */
export function evmAddress(publicKey65: Uint8Array): Buffer {
  return keccak256(publicKey65.subarray(1)).subarray(12);
}

/** Returns `encoded_asset_id`: base64 of the symbol's UTF-8 bytes, or `0x` hex of their Keccak-256. */
export function encodedAssetId(symbol: string, encoding: AssetIdEncoding): string {
  const bytes = Buffer.from(symbol);
  return encoding === 'base64' ? bytes.toString('base64') : `0x${keccak256(bytes).toString('hex')}`;
}

/** The order of the group, and half of the order, rounded down. */
const [ORDER, HALF_ORDER] = [GROUP_ORDER, GROUP_ORDER / 2n].map((value) =>
  Buffer.from(value.toString(16), 'hex'),
) as [Buffer, Buffer];
const ZERO = Buffer.alloc(32);

const EIP191_PREFIX = Buffer.from('\x19Ethereum Signed Message:\n32');

/** Writes the lowest 128 bits of a number as a 32-byte word in two's complement. */
function writeWord(value: bigint, offset: number): void {
  const sign = value < 0n ? -1n : 0n;
  keccakRoomView.setBigInt64(offset, sign);
  keccakRoomView.setBigInt64(offset + 8, sign);
  keccakRoomView.setBigInt64(offset + 16, value >> 64n);
  keccakRoomView.setBigUint64(offset + 24, value);
}
