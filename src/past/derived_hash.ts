import { type EvmAggregate, evmAggregateHash, evmPriceHash, isEvmAggregateHash } from '../crypto/evm.js';
import { parseHex } from '../model/hex.js';
import type { PublisherPrice, SignedAggregate } from '../model/signed_price.js';
import { PUBLIC_KEY_BYTES } from '../wire/signatures.js';

/** The fields of an aggregate that are in its hash. */
export type HashedAggregate = Pick<
  SignedAggregate,
  'symbol' | 'signedAtNs' | 'price' | 'merkleRoot' | 'publicKey' | 'signatureType'
>;

/** The bytes of the last address and checksum. Successive aggregates have the same. */
let lastTexts:
  | {
      readonly publicKey: string;
      readonly checksumText: string;
      readonly address: Buffer;
      readonly checksum: Buffer;
    }
  | undefined;

/**
 * Computes the `msg_hash` of an EVM aggregate, which is therefore not stored. The hash of a Stark aggregate is stored, because computing it
 * takes a hundred times as long.
 * @param checksumText the checksum of the algorithm, in hex
 */
export function derivedAggregateHash(aggregate: HashedAggregate, checksumText: string): Buffer | undefined {
  const hashed = hashedFields(aggregate, checksumText);
  return hashed && evmAggregateHash(hashed);
}

/** Returns whether an aggregate has the hash that {@link derivedAggregateHash} computes. */
export function hasDerivedHash(aggregate: SignedAggregate, checksumText: string): boolean {
  const hashed = hashedFields(aggregate, checksumText);
  return hashed !== undefined && isEvmAggregateHash(aggregate.msgHash, hashed);
}

function hashedFields(aggregate: HashedAggregate, checksumText: string): EvmAggregate | undefined {
  if (aggregate.signatureType !== 'evm') return undefined;
  const { publicKey, symbol, signedAtNs, price, merkleRoot } = aggregate;
  if (lastTexts?.publicKey !== publicKey || lastTexts.checksumText !== checksumText) {
    const address = parseHex(publicKey, PUBLIC_KEY_BYTES.evm);
    if (address === undefined) return undefined;
    lastTexts = { publicKey, checksumText, address, checksum: Buffer.from(checksumText, 'hex') };
  }
  const { address, checksum } = lastTexts;
  return { address, symbol, signedAtNs, price, merkleRoot, checksum };
}

/** The address of the last publisher. The inputs of a publisher often follow each other. */
let lastPublisher: { readonly publisherKey: string; readonly address: Buffer | undefined } | undefined;

/** Computes the `msg_hash` of a publisher's EVM price, which is therefore not stored. */
export function derivedInputHash(
  publisherKey: string,
  externalAssetId: string,
  { timestampNs, price }: Pick<PublisherPrice, 'timestampNs' | 'price'>,
): Buffer | undefined {
  if (lastPublisher?.publisherKey !== publisherKey)
    lastPublisher = { publisherKey, address: parseHex(publisherKey, PUBLIC_KEY_BYTES.evm) };
  const { address } = lastPublisher;
  return address && evmPriceHash(address, externalAssetId, timestampNs, price);
}
