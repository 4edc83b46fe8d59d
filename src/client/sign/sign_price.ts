import { PRICE_MAX, PRICE_MIN } from '../../model/price.js';
import { SIGNED_PRICES_TYPE } from '../../wire/publish_message.js';
import { ORACLE_ID_LENGTH, type SignatureType, WORD_BYTES } from '../../wire/signatures.js';
import { integerBytes, parseHexInteger, prefixedHex } from '../verify/bytes.js';
import { eip191Digest, evmPriceHash } from '../verify/evm_messages.js';
import { checksumAddress, evmAddress } from '../verify/evm_signatures.js';
import { writeExactJson } from '../verify/exact_json.js';
import { starkExternalAssetId, starkPriceHash } from '../verify/stark_messages.js';
import { starkPublicX } from '../verify/stark_signatures.js';
import { PORTABLE_CURVES, type PriceCurves } from './price_curves.js';

/** An update of an asset in a publish message, as the publisher API specifies it. */
export interface PriceUpdate {
  /** The publisher's oracle ID: 5 ASCII characters. */
  readonly oracle_id: string;
  /** The symbol of the asset. */
  readonly asset_id: string;
  /** The publisher's reason for this price. The signature does not cover the reason. */
  readonly trigger: string;
  /** The price with its signature. */
  readonly signed_price: SignedPrice;
}

/** A publisher's signed price in the form of messages and aggregates. */
export interface SignedPrice {
  /** The checksummed address of an EVM key, or the x coordinate of a Stark key, in `0x` hex. */
  readonly publisher_key: string;
  /** The asset in its signed form: the symbol for `evm`, a field element in hex for `stark`. */
  readonly external_asset_id: string;
  /** The curve and the hashes of the signature. */
  readonly signature_type: SignatureType;
  /** The price times 10^18, in decimal. */
  readonly price: string;
  /**
   * The signature, its time and the signed hash, in `0x` hex. `timestamp` is in UNIX nanoseconds, but the signature covers only its whole
   * second.
   */
  readonly timestamped_signature: {
    readonly signature: { readonly r: string; readonly s: string; readonly v?: string };
    /** UNIX nanoseconds. */
    readonly timestamp: bigint;
    readonly msg_hash: string;
  };
  /** Further facts about the price. The signature does not cover these facts. */
  readonly metadata?: object;
}

/** The key of a signer. A signature with a Stark key covers the oracle ID. For an EVM key the oracle ID is only a label. */
export interface SignerOptions {
  /** The curve of the key. */
  readonly signatureType: SignatureType;
  /** The secret key: 32 bytes, big-endian. {@link parseSecretKey} reads a key from hex. */
  readonly secretKey: Uint8Array;
  /** The oracle ID: exactly 5 ASCII characters. */
  readonly oracleId: string;
  /** Faster functions for some or all of the hashes and signatures. Default: plain JavaScript. */
  readonly curves?: Partial<PriceCurves> | undefined;
}

/** A price to sign, and two fields that the message carries without a signature. */
export interface PriceToSign {
  /** The symbol of the asset. */
  readonly symbol: string;
  /** The real price times 10^18. */
  readonly price: bigint;
  /** The time of the price in UNIX nanoseconds. The signature covers only its whole second. */
  readonly timestampNs: bigint;
  /** The publisher's reason for this price. Default: `unspecified`. */
  readonly trigger?: string | undefined;
  /** Further facts about the price. Default: none. */
  readonly metadata?: object | undefined;
}

/** A signer of prices, which {@link createPriceSigner} makes. */
export interface PriceSigner {
  /** The public key as it is written in `publisher_key`. */
  readonly publicKey: string;
  /**
   * Signs a price.
   * @throws RangeError when this signature type cannot sign the price, its time or its asset
   */
  sign(price: PriceToSign): PriceUpdate;
}

/**
 * Makes a signer, which derives its public key once.
 * @throws RangeError when the length of `oracleId` is not 5, or the key is invalid on the curve of the signature type
 */
export function createPriceSigner(options: SignerOptions): PriceSigner {
  if (options.oracleId?.length !== ORACLE_ID_LENGTH) {
    throw new RangeError(`oracleId must be ${ORACLE_ID_LENGTH} ASCII characters, not "${options.oracleId}"`);
  }
  try {
    return SIGNERS[options.signatureType](options);
  } catch (cause) {
    throw new RangeError('the secret key is not one of this signature type', { cause });
  }
}

/**
 * Signs a single price. A program that signs many prices keeps a signer of {@link createPriceSigner}, because the signer
 * derives its public key only once.
 * @throws RangeError as {@link createPriceSigner} and its signer do
 */
export function signPrice(options: SignerOptions & PriceToSign): PriceUpdate {
  return createPriceSigner(options).sign(options);
}

/**
 * Writes the JSON text of a `signed_prices` message.
 * @param traceId an ID of at most 256 characters, which the answer repeats
 * @throws RangeError when two updates are for the same asset, because a message holds at most one update for each asset
 */
export function publishMessage(traceId: string, updates: readonly PriceUpdate[]): string {
  const data = Object.fromEntries(updates.map((update) => [update.asset_id, update]));
  if (Object.keys(data).length !== updates.length) throw new RangeError('updates name an asset twice');
  return writeExactJson({ type: SIGNED_PRICES_TYPE, trace_id: traceId, data });
}

/**
 * Reads a secret key of 32 bytes from hex, with or without `0x` and leading zeros.
 * @returns the key, or `undefined` when `text` has another form. The first signature checks that the key is in range.
 */
export function parseSecretKey(text: string): Uint8Array | undefined {
  const value = parseHexInteger(text.startsWith('0x') ? text : `0x${text}`);
  return value === undefined || value === 0n ? undefined : integerBytes(value, WORD_BYTES);
}

/** The signers of each signature type. The facts that the service shares are in `wire/signatures.ts`. */
const SIGNERS: Readonly<Record<SignatureType, (options: SignerOptions) => PriceSigner>> = {
  evm: evmSigner,
  stark: starkSigner,
};

function evmSigner({ secretKey, oracleId, curves }: SignerOptions): PriceSigner {
  const { keccak256, signDigest } = { ...PORTABLE_CURVES, ...curves };
  const address = evmAddress(secretKey);
  const publicKey = checksumAddress(address);
  return {
    publicKey,
    sign(input) {
      requirePrice(input, PRICE_MIN);
      const hash = evmPriceHash(address, input.symbol, input.timestampNs, input.price, keccak256);
      const { r, s, recovery } = signDigest(eip191Digest(hash, keccak256), secretKey);
      const signature = { r: hex32(r), s: hex32(s), v: recovery === 0 ? '0x1b' : '0x1c' };
      return updateOf(input, oracleId, {
        publisher_key: publicKey,
        external_asset_id: input.symbol,
        signature_type: 'evm',
        price: input.price.toString(),
        timestamped_signature: { signature, timestamp: input.timestampNs, msg_hash: prefixedHex(hash) },
      });
    },
  };
}

function starkSigner({ secretKey, oracleId, curves }: SignerOptions): PriceSigner {
  const { pedersenHash, starkSign } = { ...PORTABLE_CURVES, ...curves };
  const publicKey = hex(starkPublicX(secretKey));
  return {
    publicKey,
    sign(input) {
      requirePrice(input, 0n);
      const externalAssetId = starkExternalAssetId(input.symbol, oracleId);
      if (externalAssetId === undefined) {
        throw new RangeError(
          `symbol "${input.symbol}" or oracleId "${oracleId}" does not fit a Stark message`,
        );
      }
      // Both operands lie in the field, because the price and the asset are in range.
      const hash = starkPriceHash(externalAssetId, input.timestampNs, input.price, pedersenHash)!;
      const { r, s } = starkSign(hash, secretKey);
      return updateOf(input, oracleId, {
        publisher_key: publicKey,
        external_asset_id: externalAssetId,
        signature_type: 'stark',
        price: input.price.toString(),
        timestamped_signature: {
          signature: { r: hex(r), s: hex(s) },
          timestamp: input.timestampNs,
          msg_hash: hex(hash),
        },
      });
    },
  };
}

function updateOf(input: PriceToSign, oracleId: string, signedPrice: SignedPrice): PriceUpdate {
  return {
    oracle_id: oracleId,
    asset_id: input.symbol,
    trigger: input.trigger ?? 'unspecified',
    signed_price: input.metadata === undefined ? signedPrice : { ...signedPrice, metadata: input.metadata },
  };
}

/** The limit of timestamps, which are int64. */
const TIMESTAMP_NS_LIMIT = 2n ** 63n;

function requirePrice({ price, timestampNs }: PriceToSign, priceMin: bigint): void {
  if (price < priceMin || price > PRICE_MAX) throw new RangeError(`price ${price} is out of range`);
  if (timestampNs < 0n || timestampNs >= TIMESTAMP_NS_LIMIT)
    throw new RangeError(`timestampNs ${timestampNs} is no int64`);
}

/** Returns hex of all 32 bytes, as EVM tools write it. */
function hex32(value: bigint): string {
  return `0x${value.toString(16).padStart(WORD_BYTES * 2, '0')}`;
}

/** Returns hex without leading zeros, as Stark tools write it. */
function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}
