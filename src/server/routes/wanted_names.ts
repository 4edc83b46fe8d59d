import type { SignatureType } from '../../model/asset.js';
import type { AssetName } from '../../model/asset_map.js';
import { likelySymbol } from '../../wire/asset_id.js';
import { SIGNATURE_TYPES } from '../../wire/signatures.js';
import type { Token } from '../access/tokens.js';
import { type AssetSelection, type FindAsset, findAssets, refuseForeign } from '../rest/asked_assets.js';
import type { RouteError } from '../rest/route.js';

/** An asset of a request. `isListed` is false for an asset that the configuration no longer has. */
export interface WantedName {
  readonly symbol: string;
  readonly names: readonly AssetName[];
  readonly isListed: boolean;
  /** The listed symbol that the caller probably means instead of an asset that is not listed. */
  readonly likely?: string | undefined;
}

/**
 * Returns the names of the requested assets. For an asset that the configuration no longer has, the name has the first type with
 * rows in the past.
 */
export function wantedNames(
  { symbols, signatureType }: AssetSelection,
  token: Token,
  findAsset: FindAsset,
  assetsPerRequestMax: number,
): readonly WantedName[] | RouteError {
  const types: readonly SignatureType[] = signatureType === undefined ? SIGNATURE_TYPES : [signatureType];
  const listed = symbols.filter((symbol) => findAsset(symbol, signatureType) !== undefined);
  // The limit also counts assets that only the past has.
  const counted = symbols.length > assetsPerRequestMax ? symbols : listed;
  const assets = findAssets({ symbols: counted, signatureType }, token, assetsPerRequestMax, findAsset);
  if ('error' in assets) return assets;
  const refusal = refuseForeign(symbols, token);
  if (refusal !== undefined) return refusal;
  return symbols.map((symbol): WantedName => {
    const asset = findAsset(symbol, signatureType);
    if (asset !== undefined) return { symbol, names: [asset], isListed: true };
    const likely = likelySymbol(symbol, (other) => token.maySee(other) && findAsset(other) !== undefined);
    return { symbol, names: types.map((type) => ({ symbol, signatureType: type })), isListed: false, likely };
  });
}
