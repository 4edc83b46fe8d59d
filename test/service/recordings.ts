import { existsSync, readFileSync } from 'node:fs';
import { type PriceUpdate, parseExactJson, type SignedPrice } from '../../src/client/index.js';

// Real updates and aggregates, which are not part of the project: they are beside the repository in which it was made.
export const FOLDER = new URL('../../../../shared/vectors/', import.meta.url);

/** The value for a test's `skip`: false if the recordings exist. */
export const skip = existsSync(FOLDER) ? false : 'the recorded data is not on this machine';

/** The inputs of one recorded aggregate, and its own values. */
export interface Recording {
  readonly symbol: string;
  readonly updates: readonly PriceUpdate[];
  readonly merkleRoot: string | undefined;
  /** Keccak-256 of the symbol, as contracts name assets. */
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

/** Returns the aggregates of one file, in their order. */
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

/** Returns the last 5 characters of a Stark asset ID; an EVM update does not contain the oracle ID. */
export function oracleIdOf({ signature_type, external_asset_id }: SignedPrice): string {
  return signature_type === 'stark' ? Buffer.from(external_asset_id.slice(-10), 'hex').toString() : 'tests';
}
