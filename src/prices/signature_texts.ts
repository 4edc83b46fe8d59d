import type { SignatureType } from '../model/asset.js';
import { parseHex, parseHexInto, toHex } from '../model/hex.js';
import { SIGNATURES } from '../wire/signatures.js';
import type { RawUpdate } from './message.js';

/** The recovery bit for each `v` without leading zeros. */
const RECOVERY_OF_V = new Map<string, 0 | 1>([
  ['0x1b', 0],
  ['0x1c', 1],
  ['0x0', 0],
  ['0x1', 1],
]);

/** Reads the texts of a signature. @returns r and s, and the recovery bit; or the reason why the signature is invalid */
export function parseSignature(
  raw: Pick<RawUpdate, 'r' | 's' | 'v'>,
  path: SignatureType,
): { rs: Buffer; recovery: 0 | 1 } | string {
  const rs = Buffer.allocUnsafe(64);
  if (!parseHexInto(raw.r, rs, 0, 32)) return 'signature r is not 0x and the hex of 32 bytes';
  if (!parseHexInto(raw.s, rs, 32, 32)) return 'signature s is not 0x and the hex of 32 bytes';
  if (!SIGNATURES[path].hasRecovery) return { rs, recovery: 0 };
  const recovery = raw.v === undefined ? undefined : recoveryOf(raw.v);
  return recovery === undefined ? 'signature v is not 0x1b, 0x1c, 0x0 or 0x1' : { rs, recovery };
}

/** Reads `v`. Publishers write `v` with or without leading zeros, and in upper or lower case. */
function recoveryOf(v: string): 0 | 1 | undefined {
  const known = RECOVERY_OF_V.get(v);
  if (known !== undefined) return known;
  const bytes = parseHex(v, 32);
  return bytes && RECOVERY_OF_V.get(`0x${BigInt(toHex(bytes)).toString(16)}`);
}
