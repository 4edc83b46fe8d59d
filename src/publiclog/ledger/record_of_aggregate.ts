import { keccak256 } from '../../crypto/keccak.js';
import { parseHex } from '../../model/hex.js';
import type { SignedAggregate } from '../../model/signed_price.js';
import { encodeRecord, RECORD_HASH_AT, RECORD_TIME_AT } from '../../tlog/price_record.js';
import { HASH_BYTES } from '../../tlog/tree_hash.js';

/** The largest number of records in memory as templates. A configuration has fewer symbols and keys. */
const TEMPLATES_MAX = 200_000;

/** Returns a function that makes the record of a signed aggregate, as a copy of an earlier record of the same key and symbol. */
export function recordMaker(): (aggregate: SignedAggregate) => Uint8Array {
  const byKey = new Map<string, Map<string, Uint8Array>>();
  let count = 0;
  const templateOf = (aggregate: SignedAggregate): Uint8Array => {
    const { publicKey, symbol } = aggregate;
    const known = byKey.get(publicKey)?.get(symbol);
    if (known !== undefined) return known;
    const made = firstRecord(aggregate);
    if (count >= TEMPLATES_MAX) return made;
    count += 1;
    const bySymbol = byKey.get(publicKey) ?? new Map<string, Uint8Array>();
    byKey.set(publicKey, bySymbol.set(symbol, made));
    return made;
  };
  return (aggregate) => {
    const { signedAtNs, msgHash } = aggregate;
    if (msgHash.length !== HASH_BYTES)
      throw new RangeError(`the hash of a message has ${msgHash.length} bytes`);
    const template = templateOf(aggregate);
    // `Buffer.from` takes a third longer than this copy.
    const record = Buffer.allocUnsafe(template.length);
    record.set(template);
    record.writeBigUInt64BE(signedAtNs, RECORD_TIME_AT);
    record.set(msgHash, RECORD_HASH_AT);
    return record;
  };
}

function firstRecord({ signatureType, publicKey, symbol, signedAtNs, msgHash }: SignedAggregate): Uint8Array {
  const signer = Buffer.alloc(HASH_BYTES);
  const key = parseHex(publicKey, HASH_BYTES)!;
  signer.set(key, HASH_BYTES - key.length);
  return encodeRecord({
    signatureType,
    signer,
    symbolHash: keccak256(Buffer.from(symbol)),
    timeNs: signedAtNs,
    msgHash,
  });
}
