import { keccak_256 } from '@noble/hashes/sha3.js';
import { secp256k1 } from '../../../src/crypto/secp256k1/secp256k1.js';
import type { Hex } from './chain.js';

// Payloads for tests of contracts, encoded from the written layout without the service's encoder.

export const E18 = 10n ** 18n;
export const NS_PER_S = 1_000_000_000n;
export const PRICE = 0b1;
export const STATUS = 0b10;
export const AGE = 0b100;
export const PUBLISHERS = 0b1000;
export const SPREAD = 0b10000;
export const ALL = PRICE | STATUS | AGE | PUBLISHERS | SPREAD;

export interface Quoted {
  readonly id: number;
  readonly value: bigint;
  readonly status?: number;
  readonly ageMs?: number;
  readonly publishers?: number;
  readonly spreadPpm?: number;
}

export interface Content {
  readonly taxonomyId: number;
  readonly timestampNs: bigint;
  /** The attribute mask. Without it, the layout is the simplified one. */
  readonly mask?: number;
  readonly assets: readonly Quoted[];
}

const hex = (value: bigint | number, bytes: number) =>
  BigInt.asUintN(bytes * 8, BigInt(value))
    .toString(16)
    .padStart(bytes * 2, '0');

export function bodyOf({ taxonomyId, timestampNs, mask, assets }: Content): Buffer {
  const entries = assets.map((asset) => {
    const { id, value, status = 1, ageMs = 0, publishers = 1, spreadPpm = 0 } = asset;
    const fields = [
      [STATUS, hex(status, 1)],
      [AGE, hex(ageMs, 4)],
      [PUBLISHERS, hex(publishers, 1)],
      [SPREAD, hex(spreadPpm, 4)],
    ] as const;
    const attributes = fields.filter(([bit]) => ((mask ?? 0) & bit) !== 0).map(([, text]) => text);
    return hex(id, 2) + hex(value, 16) + attributes.join('');
  });
  const header = mask === undefined ? '' : `ff02${hex(mask, 2)}`;
  return Buffer.from(header + hex(taxonomyId, 2) + hex(timestampNs, 8) + entries.join(''), 'hex');
}

/** A key that signs payloads. */
export interface Key {
  readonly secret: Buffer;
  readonly address: Hex;
}

export function keyOf(n: number): Key {
  const secret = Buffer.from(hex(n + 1_000, 32), 'hex');
  const publicKey = secp256k1.publicKey(secret).subarray(1);
  return { secret, address: `0x${Buffer.from(keccak_256(publicKey)).toString('hex', 12)}` };
}

export function sign(body: Uint8Array, { secret }: Key): Buffer {
  const { signature, recovery } = secp256k1.sign(keccak_256(body), secret);
  return Buffer.concat([signature, Buffer.of(recovery), body]);
}

export function hexOf(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}

/** Returns a signed payload as hex. */
export function payloadOf(key: Key, content: Content): Hex {
  return hexOf(sign(bodyOf(content), key));
}

/** Returns an update of a quorum's reader: the assets, and the payloads in ascending order of their signers. */
export function quorumUpdate(assets: readonly number[], payloads: readonly Uint8Array[]): Hex {
  const parts = payloads.map((payload) => hex(payload.length, 2) + Buffer.from(payload).toString('hex'));
  return `0x${hex(assets.length, 1)}${assets.map((asset) => hex(asset, 2)).join('')}${parts.join('')}`;
}
