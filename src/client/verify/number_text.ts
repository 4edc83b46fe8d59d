import { PUBLIC_KEY_BYTES, WORD_BYTES } from '../../wire/signatures.js';
import { integerBytes, prefixedHex } from './bytes.js';
import { checksumAddress } from './evm_signatures.js';

export const ADDRESS_BYTES = PUBLIC_KEY_BYTES.evm;

/** Returns a key as tools write it. An address has the case of its checksum, and a Stark key has no leading zeros. */
export function keyText(key: bigint, isEvm: boolean): string {
  return isEvm && isAddressKey(key)
    ? checksumAddress(integerBytes(key, ADDRESS_BYTES))
    : `0x${key.toString(16)}`;
}

/** Returns a hash as tools write it. An EVM hash has all 32 bytes. A Stark hash is a field element without leading zeros. */
export function hashText(hash: bigint, isEvm: boolean): string {
  return isEvm ? prefixedHex(integerBytes(hash, WORD_BYTES)) : `0x${hash.toString(16)}`;
}

/** Returns whether the number fits an address. */
export function isAddressKey(key: bigint): boolean {
  return key >> BigInt(ADDRESS_BYTES * 8) === 0n;
}
