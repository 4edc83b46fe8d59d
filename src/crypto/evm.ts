import { type Price, writePrice } from '../model/price.js';
import { secondOf, type TimeNs } from '../model/time.js';
import { PRICE_BYTES } from '../wire/price.js';
import { keccak256, keccak256Into } from './keccak.js';
import { secp256k1 } from './secp256k1.js';

export const EVM_ADDRESS_BYTES = 20;

/** How `encoded_asset_id` is written: the configuration's `service.encoded_asset_id`. */
export type AssetIdEncoding = 'base64' | 'keccak256';

/** What the service's EVM signature over an aggregate covers. */
export interface EvmAggregate {
  /** The service's address: 20 bytes. */
  readonly address: Uint8Array;
  readonly symbol: string;
  /** When the service signs, to the nanosecond; a publisher signs whole seconds. */
  readonly signedAtNs: TimeNs;
  readonly price: Price;
  /** 32 bytes. */
  readonly merkleRoot: Uint8Array;
  /** The algorithm's checksum: 32 bytes. */
  readonly checksum: Uint8Array;
}

/**
 * A publisher's `msg_hash`: keccak(address, symbol, u256 second, i256 price). It does not cover the nanoseconds within the
 * second.
 * @returns 32 fresh bytes.
 */
export function evmPriceHash(
  address20: Uint8Array,
  externalAssetId: string,
  timestampNs: TimeNs,
  price: Price,
): Buffer {
  const symbolBytes = Buffer.byteLength(externalAssetId);
  const message = Buffer.allocUnsafe(EVM_ADDRESS_BYTES + symbolBytes + 64);
  message.set(address20);
  message.write(externalAssetId, EVM_ADDRESS_BYTES);
  writeU256(secondOf(timestampNs), message, EVM_ADDRESS_BYTES + symbolBytes);
  writeI256(price, message, EVM_ADDRESS_BYTES + symbolBytes + 32);
  return keccak256(message);
}

/**
 * The `msg_hash` of an aggregate: keccak(address, keccak(symbol), u256 nanoseconds, i256 price, Merkle root, checksum).
 * @returns 32 fresh bytes.
 */
export function evmAggregateHash(aggregate: EvmAggregate): Buffer {
  const message = Buffer.allocUnsafe(EVM_ADDRESS_BYTES + 5 * 32);
  message.set(aggregate.address);
  keccak256Into(Buffer.from(aggregate.symbol), message, 20);
  writeU256(aggregate.signedAtNs, message, 52);
  writeI256(aggregate.price, message, 84);
  message.set(aggregate.merkleRoot, 116);
  message.set(aggregate.checksum, 148);
  return keccak256(message);
}

/**
 * The digest that is signed for a `msg_hash`: EIP-191's "personal message" of 32 bytes.
 * @returns 32 fresh bytes.
 */
export function eip191(hash32: Uint8Array): Buffer {
  EIP191_MESSAGE.set(hash32, EIP191_PREFIX.length);
  return keccak256(EIP191_MESSAGE);
}

/** Whether r and s are in 1 .. n-1 and s is at most n/2, so that the signature has no second form. No curve arithmetic. */
export function isCanonicalSignature(rs64: Uint8Array): boolean {
  // n begins with ff and its half with 7f, so the first bytes decide for 98 of 100 signatures.
  const r0 = rs64[0]!;
  const s0 = rs64[32]!;
  if (r0 > 0 && r0 < 0xff && s0 > 0 && s0 < 0x7f) return true;
  const r = rs64.subarray(0, 32);
  const s = rs64.subarray(32, 64);
  return (
    Buffer.compare(r, ZERO) > 0 &&
    Buffer.compare(r, GROUP_ORDER) < 0 &&
    Buffer.compare(s, ZERO) > 0 &&
    Buffer.compare(s, GROUP_ORDER_HALF) <= 0
  );
}

/** Whether `address20` made a canonical signature over `digest32`, which already carries any prefix. Never throws. */
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

const RECOVERED = Buffer.alloc(65);

/**
 * Addresses and their public keys, by the first four bytes of the address. Publishers are few and sign often, and a lookup
 * takes a fifth of the time of a hash.
 */
const hashedKeys = new Map<number, { readonly address: Buffer; readonly publicKey: Buffer }>();
const HASHED_KEYS_MAX = 10_000;

function isAddressOf(address20: Uint8Array, publicKey65: Uint8Array): boolean {
  const place = (address20[0]! << 24) | (address20[1]! << 16) | (address20[2]! << 8) | address20[3]!;
  const known = hashedKeys.get(place);
  if (known?.address.equals(address20) && known.publicKey.equals(publicKey65)) return true;
  if (!evmAddress(publicKey65).equals(address20)) return false;
  if (hashedKeys.size === HASHED_KEYS_MAX) hashedKeys.clear();
  hashedKeys.set(place, { address: Buffer.from(address20), publicKey: Buffer.from(publicKey65) });
  return true;
}

/** The 20-byte address of an uncompressed public key (65 bytes, the first is 4). */
export function evmAddress(publicKey65: Uint8Array): Buffer {
  return keccak256(publicKey65.subarray(1)).subarray(12);
}

/** `encoded_asset_id`: base64 of the symbol's UTF-8 bytes, or `0x` hex of their Keccak-256. */
export function encodedAssetId(symbol: string, encoding: AssetIdEncoding): string {
  const bytes = Buffer.from(symbol);
  return encoding === 'base64' ? bytes.toString('base64') : `0x${keccak256(bytes).toString('hex')}`;
}

/** n of secp256k1 (SEC 2, section 2.4.1) and half of it, rounded down. */
const GROUP_ORDER = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex');
const GROUP_ORDER_HALF = Buffer.from(
  '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0',
  'hex',
);
const ZERO = Buffer.alloc(32);

const EIP191_PREFIX = Buffer.from('\x19Ethereum Signed Message:\n32');
/** Prefix and room for the hash. Calls share it, because none is interrupted. */
const EIP191_MESSAGE = Buffer.concat([EIP191_PREFIX, ZERO]);

function writeU256(value: bigint, out: Buffer, offset: number): void {
  out.fill(0, offset, offset + 24);
  out.writeBigUInt64BE(value, offset + 24);
}

function writeI256(price: Price, out: Buffer, offset: number): void {
  out.fill(price < 0n ? 0xff : 0, offset, offset + 32 - PRICE_BYTES);
  writePrice(price, out, offset + 32 - PRICE_BYTES);
}
