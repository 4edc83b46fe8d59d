import type { EvmSignature } from '../verify/evm_signatures.js';
import { keccak256 } from '../verify/keccak_sponge.js';
import { pedersenHash } from '../verify/stark_pedersen.js';
import { type StarkSignature, starkSign } from '../verify/stark_signatures.js';
import { signDigest } from './evm_sign.js';

/**
 * The functions for hashes and signatures that a price signer needs. Every implementation gives the same bytes, because nonces follow
 * RFC 6979. The implementations differ only in speed.
 */
export interface PriceCurves {
  /** Returns the Keccak-256: 32 bytes. Must not keep `bytes`, because the caller overwrites them later. */
  keccak256(bytes: Uint8Array): Uint8Array;
  /** Signs 32 bytes with a secp256k1 key of 32 bytes. The `s` of the signature is low. */
  signDigest(digest: Uint8Array, secretKey: Uint8Array): EvmSignature;
  /** Returns the Pedersen hash of two field elements. */
  pedersenHash(x: bigint, y: bigint): bigint;
  /** Signs a Pedersen hash with a Stark key of 32 bytes. @throws RangeError for a hash of 2^251 or more. */
  starkSign(msgHash: bigint, secretKey: Uint8Array): StarkSignature;
}

/** The curves in plain JavaScript, for every platform. */
export const PORTABLE_CURVES: PriceCurves = { keccak256, signDigest, pedersenHash, starkSign };
