import { createPriceSigner, parseSecretKey } from '../../src/client/index.js';
import type { SignatureType } from '../../src/model/asset.js';

/**
 * Returns the headers of a login by signature, like the headers of a publisher agent. Publisher `n` has the key of
 * `publisherSigner(n)`.
 */
export function loginHeaders(
  n: number,
  signatureType: SignatureType,
  timestampNs = BigInt(Date.now()) * 1_000_000n,
): Record<string, string> {
  const secretKey = parseSecretKey((n + 0x100).toString(16).padStart(64, '0'))!;
  const signer = createPriceSigner({ signatureType, secretKey, oracleId: 'sauth' });
  const price = 103109111114107119111114108100n;
  const { signed_price } = signer.sign({ symbol: 'STORKAUTH', price, timestampNs });
  const { r, s, v } = signed_price.timestamped_signature.signature;
  return {
    'X-Public-Key': signer.publicKey,
    'X-Timestamp': String(timestampNs),
    'X-Signature': `0x${digits(r)}${digits(s)}${v === undefined ? '' : v.slice(2)}`,
    'X-Signature-Type': signatureType,
  };
}

function digits(hex: string): string {
  return hex.slice(2).padStart(64, '0');
}
