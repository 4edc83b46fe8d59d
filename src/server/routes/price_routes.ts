import { z } from 'zod';
import type { Asset } from '../../model/asset.js';
import { type Clock, secondOf } from '../../model/time.js';
import type { PricedHolding } from '../../records/holding.js';
import { REST_PATHS } from '../../wire/paths.js';
import { RECENT_WINDOW_S } from '../../wire/rest_values.js';
import type { Token } from '../access/tokens.js';
import { perhapsMilliseconds } from '../rest/likely_unit.js';
import {
  type AssetSelection,
  assetsParameter,
  type FindAsset,
  findAssets,
  qualityParameter,
  type Route,
  type RouteResult,
  signatureTypeParameter,
  tokenRoute,
  unixSeconds,
} from '../rest/route.js';
import { type aggregatedSignedPrice, assetId } from '../schemas/value_schemas.js';
import { withQuality } from './with_quality.js';

export interface PriceSource {
  /** Returns the newest aggregate; `undefined` while the asset has no live price. */
  latest(asset: Asset): PricedHolding | undefined;
  /** Returns a number that changes whenever the newest aggregate of an asset changes. */
  latestVersion(): number;
  /** Returns the aggregate that was valid at the end of a UNIX second. */
  recent(asset: Asset, second: number): PricedHolding | undefined;
}

export interface PriceRouteOptions {
  /** Symbols in the order of the configuration. Each symbol occurs once. */
  readonly symbols: readonly string[];
  readonly findAsset: FindAsset;
  readonly prices: PriceSource;
  readonly clock: Clock;
  readonly assetsPerRequestMax: number;
}

/** @param signedPrice the schema of an aggregate, which the documents share with other routes */
export function priceRoutes(
  options: PriceRouteOptions,
  signedPrice: ReturnType<typeof aggregatedSignedPrice>,
): [string, Route][] {
  const { symbols, prices, clock, assetsPerRequestMax } = options;
  const byAsset = z.record(assetId, signedPrice);

  const find = (wanted: AssetSelection, token: Token) =>
    findAssets(wanted, token, assetsPerRequestMax, options.findAsset);

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
        },
        response: byAsset,
        errors: [400],
        handle({ assets: symbols, signature_type: signatureType, quality }, token) {
          const assets = find({ symbols, signatureType }, token);
          if ('error' in assets) return assets;
          // The closure keeps the times and not the lines, so the garbage collector can free replaced lines. The times of an
          // asset only grow.
          const signedAtNs = assets.map((asset) => prices.latest(asset)?.aggregate.signedAtNs);
          let version = prices.latestVersion();
          return {
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
    [
      REST_PATHS.recent,
      tokenRoute({
        summary: 'The aggregated signed price of each asset that was in force at the end of a recent second',
        parameters: {
          timestamp: {
            description: `UNIX seconds within the last ${RECENT_WINDOW_S / 60} minutes`,
            required: true,
            schema: unixSeconds,
          },
          assets: assetsParameter(assetsPerRequestMax),
          signature_type: signatureTypeParameter,
        },
        response: byAsset,
        errors: [400, 404, 500],
        handle({ timestamp, assets: symbols, signature_type: signatureType }, token): RouteResult {
          const nowS = Number(secondOf(clock.nowNs()));
          if (timestamp > nowS)
            return { status: 400, error: `timestamp lies in the future${perhapsMilliseconds(timestamp)}` };
          if (timestamp < nowS - RECENT_WINDOW_S)
            return { status: 400, error: `timestamp is older than ${RECENT_WINDOW_S} seconds` };
          const assets = find({ symbols, signatureType }, token);
          if ('error' in assets) return assets;
          const data = entriesJson(assets, (asset) => prices.recent(asset, timestamp), lineOf);
          return data === '{}'
            ? { status: 404, error: 'none of the assets had a price at timestamp' }
            : { data };
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
