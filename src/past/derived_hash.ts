import { evmAggregateHash, evmPriceHash } from '../crypto/evm.js';
import { parseHex } from '../model/hex.js';
import type { PublisherPrice, SignedAggregate } from '../model/signed_price.js';
import { PUBLIC_KEY_BYTES } from '../wire/signatures.js';

/** The fields of an aggregate that are in its hash. */
export type HashedAggregate = Pick<
  SignedAggregate,
  'symbol' | 'signedAtNs' | 'price' | 'merkleRoot' | 'publicKey' | 'signatureType'
>;

/**
 * Computes the `msg_hash` of an EVM aggregate, which is therefore not stored. The hash of a Stark aggregate is stored, because computing it
 * takes a hundred times as long.
 * @param checksum the checksum of the algorithm, in hex
 */
export function derivedAggregateHash(aggregate: HashedAggregate, checksum: string): Buffer | undefined {
  if (aggregate.signatureType !== 'evm') return undefined;
  const address = parseHex(aggregate.publicKey, PUBLIC_KEY_BYTES.evm);
  if (address === undefined) return undefined;
  return evmAggregateHash({ ...aggregate, address, checksum: Buffer.from(checksum, 'hex') });
}

/** Computes the `msg_hash` of a publisher's EVM price, which is therefore not stored. */
export function derivedInputHash(
  publisherKey: string,
  externalAssetId: string,
  { timestampNs, price }: Pick<PublisherPrice, 'timestampNs' | 'price'>,
): Buffer | undefined {
  const address = parseHex(publisherKey, PUBLIC_KEY_BYTES.evm);
  return address && evmPriceHash(address, externalAssetId, timestampNs, price);
}
