import * as secp256k1 from '@noble/secp256k1';
import { bytesInteger, bytesToHex, concatBytes, integerBytes, utf8ToBytes } from './bytes.js';
import { keccak256 } from './keccak_sponge.js';
import { inverse } from './modular_inverse.js';

/** A recoverable ECDSA signature over secp256k1. */
export interface EvmSignature {
  readonly r: bigint;
  readonly s: bigint;
  readonly recovery: 0 | 1;
}

/** Returns the 20 bytes of the address whose key signed a digest of 32 bytes, or `undefined` when the signature fits no key. */
export type RecoverAddress = (digest: Uint8Array, signature: EvmSignature) => Uint8Array | undefined;

const CURVE_ORDER = secp256k1.Point.CURVE().n;
/** Returns the 20 bytes of the address of `secretKey` (32 bytes). */
export function evmAddress(secretKey: Uint8Array): Uint8Array {
  return addressOf(secp256k1.getPublicKey(secretKey, false));
}

/** Returns the address in the mixed case of its checksum (EIP-55). */
export function checksumAddress(address: Uint8Array): string {
  const digits = bytesToHex(address);
  const hash = bytesToHex(keccak256(utf8ToBytes(digits)));
  return `0x${[...digits].map((digit, i) => (hash[i]! >= '8' ? digit.toUpperCase() : digit)).join('')}`;
}

/** Returns the reason for refusing a signature before any curve arithmetic; `undefined` when its numbers are valid. */
export function signatureFault({ r, s }: EvmSignature): 'out of range' | 'high s' | undefined {
  if (r < 1n || r >= CURVE_ORDER || s < 1n || s >= CURVE_ORDER) return 'out of range';
  return s > CURVE_ORDER / 2n ? 'high s' : undefined;
}

/**
 * Returns the 20 bytes of the address whose key signed `digest`, or `undefined` when the signature fits no key. The arithmetic of SEC 1,
 * section 4.1.6, takes a third of the code of the library's function, which also hashes.
 */
export function recoverAddress(digest: Uint8Array, signature: EvmSignature): Uint8Array | undefined {
  if (signatureFault(signature) === 'out of range') return undefined;
  const { r, s, recovery } = signature;
  const multiple = (factor: bigint) => (factor * inverse(r, CURVE_ORDER)) % CURVE_ORDER;
  try {
    const point = secp256k1.Point.fromBytes(concatBytes(Uint8Array.of(2 + recovery), integerBytes(r, 32)));
    const negated = secp256k1.Point.BASE.multiplyUnsafe(multiple(bytesInteger(digest))).negate();
    return addressOf(point.multiplyUnsafe(multiple(s)).add(negated).toBytes(false));
  } catch {
    // Some values of r are not the x coordinate of a point. The library throws for them, and for a sum that is not a point.
    return undefined;
  }
}

/** Returns whether two addresses are equal. The first is 20 bytes, the second a number. */
export function isAddress(address: Uint8Array | undefined, expected: bigint): boolean {
  return address !== undefined && bytesInteger(address) === expected;
}

function addressOf(publicKey: Uint8Array): Uint8Array {
  return keccak256(publicKey.subarray(1)).subarray(12);
}
