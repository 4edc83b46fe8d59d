import type { Asset, SignatureType } from '../../model/asset.js';
import { unknownSymbols } from '../../wire/asset_id.js';
import type { Token } from '../access/tokens.js';
import type { RouteError } from './route_result.js';

/**
 * Finds an asset. Without a type, the result is the EVM asset of the symbol, or the Stark asset if the symbol has no EVM asset.
 */
export type FindAsset = (symbol: string, signatureType?: SignatureType) => Asset | undefined;

/** The assets that a request names. */
export interface AssetSelection {
  readonly symbols: readonly string[];
  /** The type of all assets, if the request names a type. */
  readonly signatureType: SignatureType | undefined;
}

/** The only asset that a request names. */
export interface WantedAsset {
  /** The name of the parameter with the symbol. */
  readonly parameter: string;
  readonly symbol: string;
  /** The signature type, if the request names a type. */
  readonly signatureType: SignatureType | undefined;
}

/** Finds the assets that a request names, if the token may see them. The error names every wrong symbol. */
export function findAssets(
  { symbols, signatureType }: AssetSelection,
  token: Token,
  assetsMax: number,
  find: FindAsset,
): readonly Asset[] | RouteError {
  if (symbols.length > assetsMax)
    return badRequest(`assets names ${symbols.length} assets, assets_per_request is ${assetsMax}`);
  const assets = symbols.map((symbol) => find(symbol, signatureType));
  const missing = symbols.filter((_, i) => assets[i] === undefined);
  const unknown = missing.filter((symbol) => find(symbol) === undefined);
  if (unknown.length > 0)
    return badRequest(`assets names unknown assets: ${namedUnknown(unknown, token, find)}`);
  const refusal = refuseForeign(symbols, token);
  if (refusal !== undefined) return refusal;
  return missing.length > 0 ? typeMissing(signatureType!, missing) : (assets as Asset[]);
}

/** The assets of a request, and the requested symbols for which there is none. */
export interface SelectedAssets {
  readonly assets: readonly Asset[];
  /** The symbols that are unknown, not covered by the token or without the type; `undefined` if the request does not ignore them. */
  readonly invalid: readonly string[] | undefined;
}

/** Finds the assets that a request names. @param ignoresInvalid true to leave out what cannot be found */
export function selectAssets(
  selection: AssetSelection,
  token: Token,
  assetsMax: number,
  find: FindAsset,
  ignoresInvalid = false,
): SelectedAssets | RouteError {
  const { symbols, signatureType } = selection;
  if (!ignoresInvalid || symbols.length > assetsMax) {
    const assets = findAssets(selection, token, assetsMax, find);
    return 'error' in assets ? assets : { assets, invalid: undefined };
  }
  const found = symbols.map((symbol) => (token.maySee(symbol) ? find(symbol, signatureType) : undefined));
  return {
    assets: found.filter((asset) => asset !== undefined),
    invalid: symbols.filter((_, i) => found[i] === undefined),
  };
}

/** Returns an error with the symbols that the token may not see. */
export function refuseForeign(symbols: readonly string[], token: Token): RouteError | undefined {
  const foreign = symbols.filter((symbol) => !token.maySee(symbol));
  if (foreign.length === 0) return undefined;
  return { status: 403, error: `the access token does not cover these assets: ${foreign.join(', ')}` };
}

/** Finds the asset that a parameter names, if the token may see it. */
export function findAsset(
  { parameter, symbol, signatureType }: WantedAsset,
  token: Token,
  find: FindAsset,
): Asset | RouteError {
  if (find(symbol) === undefined)
    return badRequest(`${parameter} names an unknown asset: ${namedUnknown([symbol], token, find)}`);
  if (!token.maySee(symbol))
    return { status: 403, error: `the access token does not cover this asset: ${symbol}` };
  return find(symbol, signatureType) ?? typeMissing(signatureType!, [symbol]);
}

function namedUnknown(unknown: readonly string[], token: Token, find: FindAsset): string {
  return unknownSymbols(unknown, (symbol) => token.maySee(symbol) && find(symbol) !== undefined);
}

function typeMissing(signatureType: SignatureType, symbols: readonly string[]): RouteError {
  return badRequest(`signature_type is ${signatureType}, in which there is no ${symbols.join(', ')}`);
}

function badRequest(error: string): RouteError {
  return { status: 400, error };
}
