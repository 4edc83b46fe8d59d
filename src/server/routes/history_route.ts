import { z } from 'zod';
import { REST_PATHS } from '../../wire/paths.js';
import { RESOLUTIONS } from '../../wire/rest_values.js';
import { perhapsMilliseconds } from '../rest/likely_unit.js';
import {
  assetParameter,
  type FindAsset,
  findAsset,
  type Route,
  signatureTypeParameter,
  tokenRoute,
  unixSeconds,
} from '../rest/route.js';
import { tradingViewHistory } from '../schemas/value_schemas.js';
import { jsonParts } from './candle_json.js';
import type { HistoryReader, HistoryResult, InPieces, WantedCandles } from './history_reader.js';

export interface HistoryRouteOptions {
  readonly findAsset: FindAsset;
  readonly candlesPerRequestMax: number;
}

export const resolution = z
  .enum(RESOLUTIONS, { error: `must be one of ${RESOLUTIONS.join(', ')}` })
  .meta({ title: 'Resolution' });

export function historyRoutes(options: HistoryRouteOptions, reader: HistoryReader): [string, Route][] {
  const { candlesPerRequestMax } = options;

  function* candles(wanted: WantedCandles, fromS: number): InPieces<HistoryResult> {
    const runs = yield* reader.range(wanted, fromS);
    if (runs !== 'too many') return { parts: jsonParts(runs) };
    return {
      status: 400,
      error: `from and to span more than candles_per_request (${candlesPerRequestMax}) candles`,
    };
  }

  return [
    [
      REST_PATHS.history,
      tokenRoute({
        summary: 'Candles of an asset, ascending, the running one included; empty intervals are left out',
        parameters: {
          symbol: assetParameter,
          signature_type: signatureTypeParameter,
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
        handle({ symbol, signature_type: signatureType, ...values }, token) {
          const wanted = { parameter: 'symbol', symbol, signatureType };
          const asset = findAsset(wanted, token, options.findAsset);
          if ('error' in asset) return asset;
          const { resolution, from, to } = values;
          const doubt = perhapsMilliseconds(from);
          if (doubt !== '') return { status: 400, error: `from lies in the far future${doubt}` };
          return reader.answer(token.name, candles({ asset, resolution, toS: to }, from));
        },
      }),
    ],
  ];
}
