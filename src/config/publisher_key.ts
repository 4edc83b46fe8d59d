import type { SignatureType } from '../model/asset.js';
import { parseHex } from '../model/hex.js';
import { hasAllDigits, SIGNATURES } from '../wire/signatures.js';

/** The form of a publisher's key in the configuration, and the upper limit of private keys, not included, by signature type. */
export const KEY_RULES: Readonly<
  Record<SignatureType, { readonly publisherKey: string; readonly privateKeyLimit: bigint }>
> = {
  evm: {
    publisherKey: 'an EVM address: 0x and 40 hex digits, not zero',
    // The order of secp256k1 (SEC 2, section 2.4.1).
    privateKeyLimit: 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n,
  },
  stark: {
    publisherKey: 'a Stark public key: the 0x hex of its x coordinate, above 0 and below the field prime',
    // The order of the STARK curve (StarkEx documentation).
    privateKeyLimit: 0x0800000000000010ffffffffffffffffb781126dcae7b2321e66a241adc64d2fn,
  },
};

/**
 * Reads a publisher's key. An EVM key is an address: `0x` and 40 hex digits in any case. A Stark key is the x coordinate of a public key:
 * a field element above 0, with or without leading zeros.
 * @returns 20 bytes for `evm` and 32 for `stark`, or `undefined` when the text is not such a key
 */
export function parsePublisherKey(text: string, signatureType: SignatureType): Buffer | undefined {
  const { keyBytes, keyLimit } = SIGNATURES[signatureType];
  if (hasAllDigits(signatureType) && text.length !== 2 + keyBytes * 2) return undefined;
  const key = parseHex(text, keyBytes);
  if (key === undefined) return undefined;
  const value = BigInt(`0x${key.toString('hex')}`);
  return value > 0n && value < keyLimit ? key : undefined;
}

/** Returns the canonical text of a publisher's key: `0x` and lower-case digits without leading zeros. */
export function canonicalKey(key: Uint8Array): string {
  return `0x${BigInt(`0x${Buffer.from(key).toString('hex')}`).toString(16)}`;
}

/** Returns the canonical text of a key in hex: `0x` and 1 to 64 digits. */
export function canonicalText(key: string): string {
  return canonicalKey(parseHex(key, 32)!);
}
