import type { z } from 'zod';
import type { Asset } from '../../model/asset.js';
import { type Clock, secondOf } from '../../model/time.js';
import { SYMBOL_PATTERN } from '../../wire/asset_id.js';
import { REST_PATHS } from '../../wire/paths.js';
import { DAY_S, intervalAt } from '../../wire/resolution.js';
import { type FindAsset, findAssets } from '../rest/asked_assets.js';
import { assetList, signatureTypeParameter } from '../rest/parameters.js';
import { type Route, tokenRoute } from '../rest/route.js';
import { type udfQuote, udfQuotes } from '../schemas/udf_schemas.js';
import type { ReadCandles } from './history_reader.js';

export interface UdfQuoteRouteOptions {
  readonly clock: Clock;
  readonly findAsset: FindAsset;
  readonly readCandles: ReadCandles;
  readonly assetsPerRequestMax: number;
}

/**
 * The number of days in which the route searches for the last close before today. A week is enough, because markets close over holidays.
 */
const CLOSE_DAYS_MAX = 7;

/** The form of a symbol in a request for quotes. */
const SYMBOL = new RegExp(`^${SYMBOL_PATTERN}$`);

export function udfQuoteRoute(options: UdfQuoteRouteOptions): [string, Route] {
  const { clock, findAsset, readCandles, assetsPerRequestMax } = options;
  return [
    REST_PATHS.udfQuotes,
    tokenRoute({
      summary: "Today's prices of assets, in UTC, and their change since the last close before today",
      parameters: {
        symbols: {
          description: 'Symbols of the assets, separated by commas',
          required: true,
          schema: assetList,
        },
        signature_type: signatureTypeParameter,
      },
      response: udfQuotes,
      raw: 'application/json',
      errors: [400],
      handle({ symbols, signature_type: signatureType }, token) {
        if (symbols.length > assetsPerRequestMax) {
          const error = `symbols names ${symbols.length} assets, assets_per_request is ${assetsPerRequestMax}`;
          return { status: 400, error };
        }
        const other = symbols.find((symbol) => !SYMBOL.test(symbol));
        if (other !== undefined) {
          const error = `symbols: ${JSON.stringify(other)} cannot be a symbol`;
          return { status: 400, error };
        }
        const { startS: todayS } = intervalAt('1D', Number(secondOf(clock.nowNs())));
        const quotes = symbols.map((symbol): z.infer<typeof udfQuote> => {
          const found = findAssets({ symbols: [symbol], signatureType }, token, 1, findAsset);
          if ('error' in found) return { s: 'error', n: symbol, v: {} };
          return quoteOf(found[0]!, readCandles, todayS);
        });
        return { data: JSON.stringify({ s: 'ok', d: quotes } satisfies z.infer<typeof udfQuotes>) };
      },
    }),
  ];
}

/** Makes the quote of an asset. Without a close before today, the change is relative to the first price of today. */
function quoteOf(asset: Asset, readCandles: ReadCandles, todayS: number): z.infer<typeof udfQuote> {
  const { symbol } = asset;
  const read = (daysBack: number) => readCandles(asset, '1D', todayS - daysBack * DAY_S, todayS + DAY_S);
  let days = read(1);
  // The route rarely reads the whole week, because most days follow a day with prices.
  if (days !== 'too many' && (days.t[0] ?? todayS) === todayS) days = read(CLOSE_DAYS_MAX);
  if (days === 'too many' || days.t.length === 0) return { s: 'error', n: symbol, v: {} };
  const last = days.t.length - 1;
  const isToday = days.t[last] === todayS;
  const before = isToday ? days.c[last - 1] : days.c[last];
  const close = days.c[last]!;
  const base = before ?? days.o[last]!;
  const change = close - base;
  return {
    s: 'ok',
    n: symbol,
    v: {
      short_name: symbol,
      description: symbol,
      lp: close,
      ch: change,
      chp: base === 0 ? 0 : (change / Math.abs(base)) * 100,
      prev_close_price: base,
      ...(isToday && { open_price: days.o[last]!, high_price: days.h[last]!, low_price: days.l[last]! }),
    },
  };
}
