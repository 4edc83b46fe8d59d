import { keccak256 } from '../crypto/keccak.js';
import { parseHex } from '../model/hex.js';
import type { SignedAggregate } from '../model/signed_price.js';
import { encodeRecord } from '../tlog/price_record.js';
import { HASH_BYTES } from '../tlog/tree_hash.js';

/** The largest number of symbols and keys whose bytes stay in memory. A configuration has fewer symbols and keys. */
const KEPT_MAX = 200_000;

/** Returns a function that makes the record of a signed aggregate. The function stores the bytes of symbols and keys for reuse. */
export function recordMaker(): (aggregate: SignedAggregate) => Uint8Array {
  const symbolHashOf = keeping((symbol) => keccak256(Buffer.from(symbol)));
  const signerOf = keeping((publicKey) => {
    const bytes = Buffer.alloc(HASH_BYTES);
    const key = parseHex(publicKey, HASH_BYTES)!;
    bytes.set(key, HASH_BYTES - key.length);
    return bytes;
  });
  return ({ signatureType, publicKey, symbol, signedAtNs, msgHash }) =>
    encodeRecord({
      signatureType,
      signer: signerOf(publicKey),
      symbolHash: symbolHashOf(symbol),
      timeNs: signedAtNs,
      msgHash,
    });
}

function keeping(compute: (text: string) => Uint8Array): (text: string) => Uint8Array {
  const kept = new Map<string, Uint8Array>();
  return (text) => {
    let bytes = kept.get(text);
    if (bytes === undefined) {
      bytes = compute(text);
      if (kept.size < KEPT_MAX) kept.set(text, bytes);
    }
    return bytes;
  };
}
