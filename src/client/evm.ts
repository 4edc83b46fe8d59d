import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import * as secp256k1 from '@noble/secp256k1';
import { NS_PER_SECOND } from '../model/time.js';
import { bytesInteger, integerBytes } from './bytes.js';

// The library ships without hashes and takes them here, once for the whole program.
secp256k1.hashes.sha256 = sha256;
secp256k1.hashes.hmacSha256 = (key, message) => hmac(sha256, key, message);

/** A recoverable ECDSA signature over secp256k1. */
export interface EvmSignature {
  readonly r: bigint;
  readonly s: bigint;
  readonly recovery: 0 | 1;
}

const CURVE_ORDER = secp256k1.Point.CURVE().n;

/** The 20 bytes of the address that `secretKey` (32 bytes) signs for. */
export function evmAddress(secretKey: Uint8Array): Uint8Array {
  return addressOf(secp256k1.getPublicKey(secretKey, false));
}

/** The address in the mixed case that carries its checksum (EIP-55). */
export function checksumAddress(address: Uint8Array): string {
  const digits = bytesToHex(address);
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits)));
  return `0x${[...digits].map((digit, i) => (hash[i]! >= '8' ? digit.toUpperCase() : digit)).join('')}`;
}

/** `msg_hash` of a publisher's price, before the EIP-191 prefix. The signature covers whole seconds only. */
export function evmPriceHash(
  address: Uint8Array,
  externalAssetId: string,
  timestampNs: bigint,
  price: bigint,
): Uint8Array {
  const second = integerBytes(timestampNs / NS_PER_SECOND, 32);
  return keccak_256(concatBytes(address, utf8ToBytes(externalAssetId), second, integerBytes(price, 32)));
}

/** What an aggregate's `msg_hash` is made of; hashes are 32 bytes, the address 20. */
export interface EvmAggregateMessage {
  readonly address: Uint8Array;
  readonly assetId: string;
  readonly signedAtNs: bigint;
  readonly price: bigint;
  readonly merkleRoot: Uint8Array;
  readonly checksum: Uint8Array;
}

/** `msg_hash` of the service's aggregate, before the EIP-191 prefix. */
export function evmAggregateHash(message: EvmAggregateMessage): Uint8Array {
  return keccak_256(
    concatBytes(
      message.address,
      keccak_256(utf8ToBytes(message.assetId)),
      integerBytes(message.signedAtNs, 32),
      integerBytes(message.price, 32),
      message.merkleRoot,
      message.checksum,
    ),
  );
}

/** The digest that is signed for a 32-byte `msg_hash` (EIP-191, version 0x45). */
export function eip191Digest(hash: Uint8Array): Uint8Array {
  return keccak_256(concatBytes(utf8ToBytes('\x19Ethereum Signed Message:\n32'), hash));
}

/** Signs a 32-byte digest with an RFC 6979 nonce; `s` is low. */
export function signDigest(digest: Uint8Array, secretKey: Uint8Array): EvmSignature {
  const bytes = secp256k1.sign(digest, secretKey, { prehash: false, format: 'recovered' });
  const { r, s, recovery } = secp256k1.Signature.fromBytes(bytes, 'recovered');
  return { r, s, recovery: recovery as 0 | 1 };
}

/** Why a signature is refused before any curve arithmetic, or `undefined` when its numbers are acceptable. */
export function signatureFault({ r, s }: EvmSignature): 'out of range' | 'high s' | undefined {
  if (r < 1n || r >= CURVE_ORDER || s < 1n || s >= CURVE_ORDER) return 'out of range';
  return s > CURVE_ORDER / 2n ? 'high s' : undefined;
}

/** The 20 bytes of the address whose key signed `digest`, or `undefined` when the signature fits no key. */
export function recoverAddress(digest: Uint8Array, signature: EvmSignature): Uint8Array | undefined {
  if (signatureFault(signature) === 'out of range') return undefined;
  try {
    const { r, s, recovery } = signature;
    const bytes = new secp256k1.Signature(r, s, recovery).toBytes('recovered');
    const publicKey = secp256k1.recoverPublicKey(bytes, digest, { prehash: false, isCompressed: false });
    return addressOf(publicKey);
  } catch {
    // Not every r is the x coordinate of a point; the library says so by throwing.
    return undefined;
  }
}

/** Keccak-256 of `bytes`. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return keccak_256(bytes);
}

/** Whether two addresses, given as 20 bytes and as a number, are the same. */
export function isAddress(address: Uint8Array | undefined, expected: bigint): boolean {
  return address !== undefined && bytesInteger(address) === expected;
}

function addressOf(publicKey: Uint8Array): Uint8Array {
  return keccak_256(publicKey.subarray(1)).subarray(12);
}
