import { existsSync, readFileSync } from 'node:fs';
import { type PriceUpdate, parseExactJson, type SignedPrice } from '../../src/client/index.js';

// Real updates and aggregates. The recordings are not part of the repository.
export const FOLDER = new URL('../../../../shared/vectors/', import.meta.url);

/** The value for a test's `skip`, which is false if the recordings exist. */
export const skip = existsSync(FOLDER) ? false : 'the recorded data is not on this machine';

/** The inputs of a recorded aggregate, and the values of the aggregate. */
export interface Recording {
  readonly symbol: string;
  readonly updates: readonly PriceUpdate[];
  readonly merkleRoot: string | undefined;
  /** The Keccak-256 of the symbol, because contracts identify assets by this hash. */
  readonly encodedAssetId: string | undefined;
}

interface RecordedFile {
  readonly asset_id: string;
  readonly signed_prices: readonly SignedPrice[];
  readonly publisher_merkle_root?: string;
  readonly encoded_asset_id_keccak256?: string;
  readonly service_signed_price?: {
    readonly publisher_merkle_root: string;
    readonly encoded_asset_id: string;
  };
}

/** Returns the aggregates of a file in their order. */
export function readRecordings(name: string): Recording[] {
  const content = parseExactJson(readFileSync(new URL(name, FOLDER), 'utf8')) as
    | RecordedFile
    | RecordedFile[];
  return [content].flat().map((file) => ({
    symbol: file.asset_id,
    updates: file.signed_prices.map((signed) => ({
      oracle_id: oracleIdOf(signed),
      asset_id: file.asset_id,
      trigger: 'unspecified',
      signed_price: signed,
    })),
    merkleRoot: file.publisher_merkle_root ?? file.service_signed_price?.publisher_merkle_root,
    encodedAssetId: file.encoded_asset_id_keccak256 ?? file.service_signed_price?.encoded_asset_id,
  }));
}

/**
 * Returns the oracle ID of a Stark update, which is the last 5 characters of its asset ID. An EVM update does not contain the
 * oracle ID.
 */
export function oracleIdOf({ signature_type, external_asset_id }: SignedPrice): string {
  return signature_type === 'stark' ? Buffer.from(external_asset_id.slice(-10), 'hex').toString() : 'tests';
}
