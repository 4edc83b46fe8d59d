import { keccak256 } from './keccak.js';

/** Returns an address as `0x` hex in the mixed case of EIP-55. */
export function checksumAddress(address20: Uint8Array): string {
  const lower = Buffer.from(address20).toString('hex');
  const hash = keccak256(Buffer.from(lower)).toString('hex');
  let text = '0x';
  for (let i = 0; i < lower.length; i++) text += hash[i]! >= '8' ? lower[i]!.toUpperCase() : lower[i]!;
  return text;
}
