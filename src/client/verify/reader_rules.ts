import { SIGNATURES, type SignatureType, WORD_BYTES } from '../../wire/signatures.js';
import type { AggregateForm, PublisherForm, SignedForm } from './aggregate_form.js';
import { bytesInteger, integerBytes, prefixedHex } from './bytes.js';
import { eip191Digest, evmAggregateHash, evmPriceHash } from './evm_messages.js';
import { checksumAddress, isAddress, type RecoverAddress, signatureFault } from './evm_signatures.js';
import { isStarkAsset, starkExternalAssetId, starkPriceHash } from './stark_messages.js';
import { starkVerify } from './stark_signatures.js';

/** The functions with which a client verifies the signatures of a type. */
interface ReaderRules {
  /** Returns a key as tools write it. */
  keyText(key: bigint): string;
  /** Returns a hash as tools write it. */
  hashText(hash: bigint): string;
  /** Returns whether `external_asset_id` names an asset. */
  isAsset(externalAssetId: string, assetId: string): boolean;
  /** Returns the hash that a publisher signs; `undefined` when these values cannot be signed. */
  priceHash(form: PublisherForm): bigint | undefined;
  /**
   * Returns the hash that the service signs; `undefined` when these values cannot be signed.
   * @param oracleId the service's oracle ID, which the hashes of some types cover
   */
  aggregateHash(aggregate: AggregateForm, oracleId: string): bigint | undefined;
  /** Returns the fault of a signature; `undefined` for a valid signature of the hash by the key of the form. */
  signatureFault(form: SignedForm, hash: bigint, recover: RecoverAddress): string | undefined;
}

/** The rules of each signature type. The facts that the service shares are in `wire/signatures.ts`. */
export const READER_RULES: Readonly<Record<SignatureType, ReaderRules>> = {
  evm: {
    keyText: (key) => (isAddressKey(key) ? checksumAddress(integerBytes(key, ADDRESS_BYTES)) : shortHex(key)),
    hashText: (hash) => prefixedHex(integerBytes(hash, WORD_BYTES)),
    isAsset: (externalAssetId, assetId) => externalAssetId === assetId,
    priceHash: (form) =>
      ofAddress(form.key, (address) =>
        evmPriceHash(address, form.externalAssetId, form.timestampNs, form.price),
      ),
    aggregateHash: ({ assetId, service }) =>
      ofAddress(service.key, (address) =>
        evmAggregateHash({
          address,
          assetId,
          signedAtNs: service.timestampNs,
          price: service.price,
          merkleRoot: integerBytes(service.merkleRoot, WORD_BYTES),
          checksum: integerBytes(service.checksum, WORD_BYTES),
        }),
      ),
    signatureFault(form, hash, recover) {
      const fault = signatureFault(form);
      if (fault !== undefined) return fault;
      const signer = recover(eip191Digest(integerBytes(hash, WORD_BYTES)), form);
      if (isAddress(signer, form.key)) return undefined;
      return signer === undefined ? 'no key fits it' : `it was made by ${prefixedHex(signer)}`;
    },
  },
  // Keys and hashes of Starknet are field elements without leading zeros.
  stark: {
    keyText: shortHex,
    hashText: shortHex,
    isAsset: isStarkAsset,
    priceHash: (form) => starkPriceHash(form.externalAssetId, form.timestampNs, form.price),
    aggregateHash: ({ assetId, service }, oracleId) =>
      starkPriceHash(starkExternalAssetId(assetId, oracleId) ?? '', service.timestampNs, service.price),
    signatureFault: (form, hash) =>
      starkVerify(form, hash, form.key) ? undefined : 'it was not made by the key',
  },
};

const ADDRESS_BYTES = SIGNATURES.evm.keyBytes;

/** Returns the hash that `hash` computes from the signer's address; `undefined` when the key is not an address. */
function ofAddress(key: bigint, hash: (address: Uint8Array) => Uint8Array): bigint | undefined {
  return isAddressKey(key) ? bytesInteger(hash(integerBytes(key, ADDRESS_BYTES))) : undefined;
}

function isAddressKey(key: bigint): boolean {
  return key < SIGNATURES.evm.keyLimit;
}

function shortHex(value: bigint): string {
  return `0x${value.toString(16)}`;
}
