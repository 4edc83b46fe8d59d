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
import { CandleTexts, type CandleTextsOptions } from './candle_texts.js';

export interface HistoryRouteOptions extends CandleTextsOptions {
  readonly findAsset: FindAsset;
}

export const resolution = z
  .enum(RESOLUTIONS, { error: `must be one of ${RESOLUTIONS.join(', ')}` })
  .meta({ title: 'Resolution' });

export function historyRoutes(options: HistoryRouteOptions): [string, Route][] {
  const { candlesPerRequestMax } = options;
  const texts = new CandleTexts(options);
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
          const doubt = perhapsMilliseconds(values.from);
          if (doubt !== '') return { status: 400, error: `from lies in the far future${doubt}` };
          const data = texts.json(asset, values.resolution, values.from, values.to);
          return data === 'too many'
            ? {
                status: 400,
                error: `from and to span more than candles_per_request (${candlesPerRequestMax}) candles`,
              }
            : { data };
        },
      }),
    ],
  ];
}
