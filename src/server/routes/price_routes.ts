import { z } from 'zod';
import type { PricedHolding } from '../../log/records/holding.js';
import type { Asset } from '../../model/asset.js';
import { REST_PATHS } from '../../wire/paths.js';
import { type FindAsset, selectAssets } from '../rest/asked_assets.js';
import {
  assetsParameter,
  ignoreInvalidParameter,
  qualityParameter,
  signatureTypeParameter,
} from '../rest/parameters.js';
import { type Route, tokenRoute } from '../rest/route.js';
import { type aggregatedSignedPrice, assetId } from '../schemas/value_schemas.js';
import { withQuality } from './with_quality.js';

export interface PriceSource {
  /** Returns the newest aggregate; `undefined` while the asset has no live price. */
  latest(asset: Asset): PricedHolding | undefined;
  /** Returns a number that changes whenever the newest aggregate of an asset changes. */
  latestVersion(): number;
}

export interface PriceRouteOptions {
  /** Symbols in the order of the configuration. Each symbol occurs once. */
  readonly symbols: readonly string[];
  readonly findAsset: FindAsset;
  readonly prices: PriceSource;
  readonly assetsPerRequestMax: number;
}

/** @param signedPrice the schema of an aggregate, which the documents share with other routes */
export function priceRoutes(
  options: PriceRouteOptions,
  signedPrice: ReturnType<typeof aggregatedSignedPrice>,
): [string, Route][] {
  const { symbols, prices, assetsPerRequestMax } = options;
  const byAsset = z.record(assetId, signedPrice);

  return [
    [
      REST_PATHS.assets,
      tokenRoute({
        summary: 'The symbols of all assets that the token covers',
        response: z.array(assetId),
        errors: [404],
        handle(_values, token) {
          if (symbols.length === 0) return { status: 404, error: 'the catalogue is empty' };
          return { data: JSON.stringify(symbols.filter((symbol) => token.maySee(symbol))) };
        },
      }),
    ],
    [
      REST_PATHS.latest,
      tokenRoute({
        summary: 'The latest aggregated signed price of each asset that has a live one',
        parameters: {
          assets: assetsParameter(assetsPerRequestMax),
          signature_type: signatureTypeParameter,
          quality: qualityParameter,
          ignore_invalid: ignoreInvalidParameter,
        },
        response: byAsset,
        errors: [400],
        handle({ assets: symbols, signature_type: signatureType, quality, ignore_invalid: ignores }, token) {
          const wanted = { symbols, signatureType };
          const found = selectAssets(wanted, token, assetsPerRequestMax, options.findAsset, ignores);
          if ('error' in found) return found;
          const { assets, invalid } = found;
          // The closure keeps the times and not the lines, so the garbage collector can free replaced lines. The times of an
          // asset only grow.
          const signedAtNs = assets.map((asset) => prices.latest(asset)?.aggregate.signedAtNs);
          let version = prices.latestVersion();
          return {
            invalid,
            data: entriesJson(assets, (asset) => prices.latest(asset), quality ? ratedLine : lineOf),
            isCurrent() {
              if (version === prices.latestVersion()) return true;
              version = prices.latestVersion();
              return assets.every((asset, i) => prices.latest(asset)?.aggregate.signedAtNs === signedAtNs[i]);
            },
          };
        },
      }),
    ],
  ];
}

function entriesJson(
  assets: readonly Asset[],
  find: (asset: Asset) => PricedHolding | undefined,
  textOf: (holding: PricedHolding) => string,
): string {
  const entries: string[] = [];
  for (const asset of assets) {
    const holding = find(asset);
    if (holding) entries.push(`${JSON.stringify(asset.symbol)}:${textOf(holding)}`);
  }
  return `{${entries.join()}}`;
}

function lineOf({ line }: PricedHolding): string {
  return line;
}

function ratedLine({ line, aggregate }: PricedHolding): string {
  return withQuality(line, aggregate);
}
