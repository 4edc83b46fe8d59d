import { z } from 'zod';
import { perhapsMilliseconds } from '../../model/likely_unit.js';
import { REST_PATHS } from '../../wire/paths.js';
import { RESOLUTIONS } from '../../wire/rest_values.js';
import { type FindAsset, findAsset, type SelectedAssets, selectAssets } from '../rest/asked_assets.js';
import {
  assetParameter,
  assetsParameter,
  ignoreInvalidParameter,
  signatureTypeParameter,
  unixSeconds,
} from '../rest/parameters.js';
import { type Route, type RouteError, tokenRoute } from '../rest/route.js';
import { assetId, tradingViewHistory } from '../schemas/value_schemas.js';
import { jsonParts } from './candle_json.js';
import type { HistoryReader, HistoryResult, InPieces, WantedCandles } from './history_reader.js';

export interface HistoryRouteOptions {
  readonly findAsset: FindAsset;
  readonly candlesPerRequestMax: number;
  readonly assetsPerRequestMax: number;
}

export const resolution = z
  .enum(RESOLUTIONS, { error: `must be one of ${RESOLUTIONS.join(', ')}` })
  .meta({ title: 'Resolution' });

const rangeParameters = {
  signature_type: signatureTypeParameter,
  resolution: { description: 'Minutes, or day, week and month', required: true, schema: resolution },
  from: { description: 'UNIX seconds, start of the range', required: true, schema: unixSeconds },
  to: { description: 'UNIX seconds, end of the range, exclusive', required: true, schema: unixSeconds },
} as const;

export function historyRoutes(options: HistoryRouteOptions, reader: HistoryReader): [string, Route][] {
  const { candlesPerRequestMax, assetsPerRequestMax } = options;

  const tooMany: HistoryResult = {
    status: 400,
    error: `from and to span more than candles_per_request (${candlesPerRequestMax}) candles`,
  };

  function* candles(wanted: WantedCandles, fromS: number): InPieces<HistoryResult> {
    const runs = yield* reader.range(wanted, fromS);
    if (runs === 'too many') return tooMany;
    const isCurrent = reader.sealedUntil(wanted, fromS, runs);
    return { parts: jsonParts(runs), ...(isCurrent && { isCurrent }) };
  }

  /** Reads one asset after the other. The limit counts the candles of all assets together. */
  function* candlesOfEach(
    { assets, invalid }: SelectedAssets,
    { resolution, toS }: Omit<WantedCandles, 'asset'>,
    fromS: number,
  ): InPieces<HistoryResult> {
    const parts: Uint8Array[] = [Buffer.from('{')];
    let count = 0;
    for (const asset of assets) {
      const runs = yield* reader.range({ asset, resolution, toS }, fromS);
      if (runs === 'too many') return tooMany;
      count += runs.reduce((sum, { length }) => sum + length, 0);
      if (count > candlesPerRequestMax) return tooMany;
      parts.push(...jsonParts(runs, `${parts.length === 1 ? '' : ','}${JSON.stringify(asset.symbol)}:{`));
    }
    return { parts: [...parts, Buffer.from('}')], invalid };
  }

  return [
    [
      REST_PATHS.history,
      tokenRoute({
        summary: 'Candles of an asset, ascending, the running one included; empty intervals are left out',
        parameters: { symbol: assetParameter, ...rangeParameters },
        response: tradingViewHistory,
        errors: [400, 403, 500],
        handle({ symbol, signature_type: signatureType, ...values }, token) {
          const wanted = { parameter: 'symbol', symbol, signatureType };
          const asset = findAsset(wanted, token, options.findAsset);
          if ('error' in asset) return asset;
          const { resolution, from, to } = values;
          return farFuture(from) ?? reader.answer(token.name, candles({ asset, resolution, toS: to }, from));
        },
      }),
    ],
    [
      REST_PATHS.candles,
      tokenRoute({
        summary: 'Candles of several assets, each as those of `/v1/tradingview/history`',
        parameters: {
          assets: assetsParameter(assetsPerRequestMax),
          ...rangeParameters,
          ignore_invalid: ignoreInvalidParameter,
        },
        response: z.record(assetId, tradingViewHistory),
        errors: [400, 403, 500],
        handle(
          { assets: symbols, signature_type: signatureType, ignore_invalid: ignores, ...values },
          token,
        ) {
          const wanted = { symbols, signatureType };
          const found = selectAssets(wanted, token, assetsPerRequestMax, options.findAsset, ignores);
          if ('error' in found) return found;
          const { resolution, from, to } = values;
          const work = candlesOfEach(found, { resolution, toS: to }, from);
          return farFuture(from) ?? reader.answer(token.name, work);
        },
      }),
    ],
  ];
}

/** Refuses a start that is probably in milliseconds. */
function farFuture(fromS: number): RouteError | undefined {
  const doubt = perhapsMilliseconds(fromS);
  return doubt === '' ? undefined : { status: 400, error: `from lies in the far future${doubt}` };
}
