import { z } from 'zod';
import type { PastReader } from '../../log/past/past_reader.js';
import type { AssetName } from '../../model/asset_map.js';
import { perhapsMilliseconds } from '../../model/likely_unit.js';
import { NS_PER_SECOND, secondOf } from '../../model/time.js';
import { REST_PATHS } from '../../wire/paths.js';
import { RECENT_WINDOW_S } from '../../wire/rest_values.js';
import { type FindAsset, type SelectedAssets, selectAssets } from '../rest/asked_assets.js';
import {
  assetsParameter,
  ignoreInvalidParameter,
  signatureTypeParameter,
  unixSeconds,
} from '../rest/parameters.js';
import {
  type Route,
  type RouteAnswer,
  type RouteError,
  type RouteResult,
  tokenRoute,
} from '../rest/route.js';
import { type aggregatedSignedPrice, assetId } from '../schemas/value_schemas.js';
import type { PastAccess, PastAccessOptions, PastTurn } from './past_access.js';

export interface RecentRouteOptions extends PastAccessOptions {
  readonly findAsset: FindAsset;
  readonly past: Pick<PastReader, 'inForce' | 'reaches' | 'keptFrom'>;
  readonly assetsPerRequestMax: number;
}

/**
 * @param access the conditions for requests that read the past
 * @param signedPrice the schema of an aggregate, which the documents share with other routes
 */
export function recentRoutes(
  options: RecentRouteOptions,
  access: PastAccess,
  signedPrice: ReturnType<typeof aggregatedSignedPrice>,
): [string, Route][] {
  const { clock, assetsPerRequestMax } = options;
  return [
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
          ignore_invalid: ignoreInvalidParameter,
        },
        response: z.record(assetId, signedPrice),
        errors: [400, 404, 410, 500, 503],
        handle(
          { timestamp, assets: symbols, signature_type: signatureType, ignore_invalid: ignores },
          token,
        ): RouteResult {
          const nowS = Number(secondOf(clock.nowNs()));
          if (timestamp > nowS)
            return { status: 400, error: `timestamp lies in the future${perhapsMilliseconds(timestamp)}` };
          if (timestamp < nowS - RECENT_WINDOW_S)
            return { status: 400, error: `timestamp is older than ${RECENT_WINDOW_S} seconds` };
          const wanted = { symbols, signatureType };
          const found = selectAssets(wanted, token, assetsPerRequestMax, options.findAsset, ignores);
          if ('error' in found) return found;
          const { assets } = found;
          const endNs = BigInt(timestamp + 1) * NS_PER_SECOND - 1n;
          const isInMemory = assets.every((asset) => lineInMemory(options, asset, endNs) !== undefined);
          if (isInMemory) return dataOf(found, (asset) => lineInMemory(options, asset, endNs));
          return access.request(token.name, (turn) => recentAnswer(options, access, found, endNs, turn));
        },
      }),
    ],
  ];
}

/** Returns the line of an asset that has not changed since a time; empty without a price, and `undefined` for an asset that changed. */
function lineInMemory(
  { newest }: Pick<RecentRouteOptions, 'newest'>,
  asset: AssetName,
  atNs: bigint,
): string | undefined {
  const holding = newest(asset);
  if (holding === undefined) return '';
  if (holding.timeNs > atNs || holding.state === 'gap') return undefined;
  return holding.line ?? '';
}

async function recentAnswer(
  options: RecentRouteOptions,
  access: PastAccess,
  found: SelectedAssets,
  atNs: bigint,
  turn: PastTurn,
): Promise<RouteAnswer | RouteError> {
  const lines = new Map<AssetName, string>();
  for (const asset of found.assets) {
    const known = lineInMemory(options, asset, atNs);
    if (known === undefined && !(await access.isOnDisk(asset, atNs)))
      return { status: 503, error: `the past of ${asset.symbol} is not on disk yet` };
    const entry = known === undefined ? await turn(() => options.past.inForce(asset, atNs)) : undefined;
    lines.set(asset, known ?? (entry?.kind === 'priced' ? entry.line : ''));
  }
  return dataOf(found, (asset) => lines.get(asset));
}

function dataOf(
  { assets, invalid }: SelectedAssets,
  lineOf: (asset: AssetName) => string | undefined,
): RouteAnswer | RouteError {
  const texts = assets.flatMap((asset) => {
    const line = lineOf(asset);
    return line ? [`${JSON.stringify(asset.symbol)}:${line}`] : [];
  });
  return texts.length === 0
    ? { status: 404, error: 'none of the assets had a price at timestamp' }
    : { data: `{${texts.join()}}`, invalid };
}
