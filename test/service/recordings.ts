import { existsSync, readFileSync } from 'node:fs';
import { type PriceUpdate, parseExactJson, type SignedPrice } from '../../src/client/index.js';

// Real updates. The recordings are not part of the repository.
export const FOLDER = new URL('../../../../shared/vectors/', import.meta.url);

/** The value for a test's `skip`, which is false if the recordings exist. */
export const skip = existsSync(FOLDER) ? false : 'the recorded data is not on this machine';

interface RecordedFile {
  readonly asset_id: string;
  readonly signed_prices: readonly SignedPrice[];
}

/** Returns the inputs of the aggregates of a file, in their order. */
export function readRecordings(name: string): { readonly updates: readonly PriceUpdate[] }[] {
  const content = parseExactJson(readFileSync(new URL(name, FOLDER), 'utf8')) as
    | RecordedFile
    | RecordedFile[];
  return [content].flat().map((file) => ({
    updates: file.signed_prices.map((signed) => ({
      oracle_id: oracleIdOf(signed),
      asset_id: file.asset_id,
      trigger: 'unspecified',
      signed_price: signed,
    })),
  }));
}

/**
 * Returns the oracle ID of a Stark update, which is the last 5 characters of its asset ID. An EVM update does not contain the
 * oracle ID.
 */
function oracleIdOf({ signature_type, external_asset_id }: SignedPrice): string {
  return signature_type === 'stark' ? Buffer.from(external_asset_id.slice(-10), 'hex').toString() : 'tests';
}
