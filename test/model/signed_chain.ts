import { signDigest } from '../../src/client/sign/evm_sign.js';
import { concatBytes, integerBytes } from '../../src/client/verify/bytes.js';
import { CHAIN_CRYPTO } from '../../src/client/verify/chain_crypto.js';
import { evmAddress } from '../../src/client/verify/evm_signatures.js';
import {
  type AnnouncedList,
  announcementHex,
  announcementMessage,
  encodeAnnouncedList,
  NO_PREVIOUS,
  readHex,
} from '../../src/wire/announcement.js';

/** Returns the address of a secp256k1 key. */
export const addressOf = (secret: Uint8Array) => readHex(evmAddress(secret), 0, 20);

export function digestOf(body: Uint8Array): Uint8Array {
  return CHAIN_CRYPTO.keccak256(announcementMessage(body));
}

/** A list, and the key that signs it. By default, a list follows the previous list. */
export type ListToSign = Omit<AnnouncedList, 'previous' | 'version'> &
  Partial<AnnouncedList> & { readonly by: Uint8Array };

/** Signs lists as a chain of announcements. @returns each announcement as `0x` hex */
export function signChain(lists: readonly ListToSign[]): string[] {
  let previous = NO_PREVIOUS;
  return lists.map(({ by, ...list }, i) => {
    const body = encodeAnnouncedList({ previous, version: i + 1, ...list });
    const digest = digestOf(body);
    previous = readHex(digest, 0, 32);
    const { r, s, recovery } = signDigest(digest, by);
    const signature = concatBytes(integerBytes(r, 32), integerBytes(s, 32), Uint8Array.of(recovery));
    return announcementHex(signature, body);
  });
}
