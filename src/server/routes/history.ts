import { z } from 'zod';
import type { Asset } from '../../model/asset.js';
import type { Candles } from '../../store/history.js';
import { RESOLUTIONS, type Resolution } from '../../store/resolution.js';
import { assetParameter, type FindAsset, findAsset, type Route, tokenRoute, unixSeconds } from '../route.js';
import { tradingViewHistory } from '../schemas.js';

/** Candles whose start lies in `fromS` <= t < `toS`, or that there are more than the limit. */
export type ReadCandles = (
  asset: Asset,
  resolution: Resolution,
  fromS: number,
  toS: number,
) => Candles | 'too many';

export interface HistoryRouteOptions {
  readonly assetBySymbol: FindAsset;
  readonly readCandles: ReadCandles;
  readonly candlesPerRequestMax: number;
}

export const resolution = z.enum(RESOLUTIONS, { error: `must be one of ${RESOLUTIONS.join(', ')}` });

export function historyRoutes({
  assetBySymbol,
  readCandles,
  candlesPerRequestMax,
}: HistoryRouteOptions): [string, Route][] {
  return [
    [
      '/v1/tradingview/history',
      tokenRoute({
        summary: 'Candles of an asset, ascending, the running one included; empty intervals are left out',
        parameters: {
          symbol: assetParameter,
          resolution: { description: 'Minutes, or day, week and month', required: true, schema: resolution },
          from: { description: 'UNIX seconds, start of the range', required: true, schema: unixSeconds },
          to: {
            description: 'UNIX seconds, end of the range, exclusive',
            required: true,
            schema: unixSeconds,
          },
        },
        response: tradingViewHistory,
        errors: [400, 403, 500],
        handle(values, token) {
          const asset = findAsset('symbol', values.symbol, token, assetBySymbol);
          if ('error' in asset) return asset;
          const candles = readCandles(asset, values.resolution, values.from, values.to);
          return candles === 'too many'
            ? {
                status: 400,
                error: `from and to span more than candles_per_request (${candlesPerRequestMax}) candles`,
              }
            : { data: JSON.stringify(candles) };
        },
      }),
    ],
  ];
}
