import { keccak_256 } from '@noble/hashes/sha3.js';
import { signDigest } from '../../src/client/sign/evm_sign.js';
import { checksumAddress, evmAddress } from '../../src/client/verify/evm_signatures.js';

export const SECRET_KEY = new Uint8Array(32).fill(7);
export const SIGNER = checksumAddress(evmAddress(SECRET_KEY));

export interface Content {
  readonly taxonomyId: number;
  readonly timestampNs: bigint;
  readonly assets: readonly (readonly [id: number, value: bigint, status: number])[];
}

/** Encodes a body without the client's code, from the layout tables alone. */
export function bodyOf({ taxonomyId, timestampNs, assets }: Content, isVersioned: boolean): Buffer {
  const hex = (value: bigint | number, bytes: number) =>
    BigInt.asUintN(bytes * 8, BigInt(value))
      .toString(16)
      .padStart(bytes * 2, '0');
  const entries = assets.map(
    ([id, value, status]) => hex(id, 2) + hex(value, 16) + (isVersioned ? hex(status, 1) : ''),
  );
  const header = (isVersioned ? 'ff020003' : '') + hex(taxonomyId, 2) + hex(timestampNs, 8);
  return Buffer.from(header + entries.join(''), 'hex');
}

export function signed(body: Uint8Array, secretKey = SECRET_KEY): string {
  const { r, s, recovery } = signDigest(keccak_256(body), secretKey);
  return `0x${sealed(r, s, recovery)}${Buffer.from(body).toString('hex')}`;
}

export function sealed(r: bigint, s: bigint, v: number): string {
  return (
    r.toString(16).padStart(64, '0') + s.toString(16).padStart(64, '0') + v.toString(16).padStart(2, '0')
  );
}
