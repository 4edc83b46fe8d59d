import { z } from 'zod';
import type { Asset } from '../../model/asset.js';
import { chartSession } from '../../model/calendar/chart_session.js';
import type { Calendar } from '../../model/calendar/status.js';
import { secondOf } from '../../model/time.js';
import { REST_PATHS } from '../../wire/paths.js';
import { RESOLUTIONS } from '../../wire/rest_values.js';
import { findAsset } from '../rest/asked_assets.js';
import { assetParameter, count, signatureTypeParameter, unixSeconds } from '../rest/parameters.js';
import { type Route, tokenRoute } from '../rest/route.js';
import { udfConfig, udfError, udfHistory, udfSearch, udfSymbol } from '../schemas/udf_schemas.js';
import { type CandleRun, jsonParts } from './candle_json.js';
import type { HistoryReader, HistoryResult, InPieces, WantedCandles } from './history_reader.js';
import { resolution } from './history_route.js';
import { type UdfQuoteRouteOptions, udfQuoteRoute } from './udf_quotes_route.js';

export interface UdfRouteOptions extends UdfQuoteRouteOptions {
  /** Symbols in the order of the configuration. Each symbol occurs once. */
  readonly symbols: readonly string[];
  readonly candlesPerRequestMax: number;
  /** Returns the calendar; `undefined` for an asset that trades around the clock. */
  readonly calendarOf: (asset: Asset) => Calendar | undefined;
}

/** The names of resolutions that the charting library knows: 13 of the 16 values of `resolution`. */
const CHART_RESOLUTIONS = RESOLUTIONS.filter((name) => !['D', 'W', 'M'].includes(name));
const INTRADAY_RESOLUTIONS = CHART_RESOLUTIONS.filter((name) => /^\d+$/.test(name));
const SEARCH_RESULTS_MAX = 50;
const FUTURE_S_MAX = 366 * 86_400;
const EXCHANGE = 'tickseal';

/**
 * The routes below `/udf`, which a chart requests: TradingView's "Universal Data Feed" (charting library documentation, "UDF").
 * Bodies have no wrapper. Errors of a query are answers with `s: error`.
 */
export function udfRoutes(options: UdfRouteOptions, reader: HistoryReader): [string, Route][] {
  const { clock } = options;
  return [
    [
      REST_PATHS.udfConfig,
      tokenRoute({
        summary: 'What the data feed can do',
        response: udfConfig,
        raw: 'application/json',
        handle: () => ({ data: CONFIG_JSON }),
      }),
    ],
    [
      REST_PATHS.udfTime,
      tokenRoute({
        summary: "The server's time in UNIX seconds",
        response: z.string().regex(/^[0-9]+$/),
        raw: 'text/plain',
        handle: () => ({ data: String(secondOf(clock.nowNs())) }),
      }),
    ],
    symbolsRoute(options),
    searchRoute(options),
    historyRoute(options, reader),
    udfQuoteRoute(options),
  ];
}

function symbolsRoute(options: UdfRouteOptions): [string, Route] {
  return [
    REST_PATHS.udfSymbols,
    tokenRoute({
      summary: 'How a chart shows an asset',
      parameters: { symbol: assetParameter, signature_type: signatureTypeParameter },
      response: z.union([udfSymbol, udfError]),
      raw: 'application/json',
      handle({ symbol, signature_type: signatureType }, token) {
        const wanted = { parameter: 'symbol', symbol, signatureType };
        const asset = findAsset(wanted, token, options.findAsset);
        return {
          data: JSON.stringify(
            'error' in asset ? failedAnswer(asset.error) : symbolInfo(asset, options.calendarOf(asset)),
          ),
        };
      },
    }),
  ];
}

function searchRoute(options: UdfRouteOptions): [string, Route] {
  return [
    REST_PATHS.udfSearch,
    tokenRoute({
      summary: 'Assets whose symbol or name contains the text',
      parameters: {
        query: { description: 'Part of a symbol or name, in any case', required: false, schema: z.string() },
        type: { description: 'The only type of the results', required: false, schema: z.string() },
        exchange: { description: 'Not used: there is one exchange', required: false, schema: z.string() },
        limit: {
          description: `Results wanted, at most ${SEARCH_RESULTS_MAX}`,
          required: false,
          schema: count,
        },
      },
      response: udfSearch,
      raw: 'application/json',
      errors: [400],
      handle({ query = '', type = '', limit = SEARCH_RESULTS_MAX }, token) {
        const wanted = query.toLowerCase();
        const found = options.symbols
          .filter((symbol) => token.maySee(symbol))
          .map((symbol) => searchResult(options.findAsset(symbol)!))
          .filter((one) => type === '' || one.type === type)
          .filter((one) => `${one.symbol}\n${one.description}`.toLowerCase().includes(wanted));
        return { data: JSON.stringify(found.slice(0, Math.min(limit, SEARCH_RESULTS_MAX))) };
      },
    }),
  ];
}

function historyRoute(options: UdfRouteOptions, reader: HistoryReader): [string, Route] {
  return [
    REST_PATHS.udfHistory,
    tokenRoute({
      summary: 'Candles of an asset in the form of the charting library',
      parameters: {
        symbol: assetParameter,
        signature_type: signatureTypeParameter,
        resolution: {
          description: 'Minutes, or day, week and month',
          required: true,
          schema: z.string().meta({ title: 'Resolution', enum: [...RESOLUTIONS] }),
        },
        from: { description: 'UNIX seconds, start of the range', required: true, schema: unixSeconds },
        to: {
          description: 'UNIX seconds, end of the range, exclusive',
          required: true,
          schema: unixSeconds,
        },
        countback: {
          description: 'Candles wanted before `to`; goes before `from`',
          required: false,
          schema: count,
        },
      },
      response: udfHistory,
      raw: 'application/json',
      errors: [400, 500],
      handle({ symbol, signature_type: signatureType, ...values }, token) {
        const wanted = { parameter: 'symbol', symbol, signatureType };
        const asset = findAsset(wanted, token, options.findAsset);
        if ('error' in asset) return { data: JSON.stringify(failedAnswer(asset.error)) };
        const step = resolution.safeParse(values.resolution);
        if (!step.success)
          return { data: JSON.stringify(failedAnswer(`resolution ${step.error.issues[0]!.message}`)) };
        // The route bounds the times, because intervals are defined only near the present. A chart that wants all candles names a
        // time in the far future, and any client may name a time in the far past.
        const toS = Math.max(0, Math.min(values.to, Number(secondOf(options.clock.nowNs())) + FUTURE_S_MAX));
        const { from: fromS, countback } = values;
        const query = { asset, resolution: step.data, fromS, toS, countback };
        return reader.answer(token.name, udfCandles(reader, options.candlesPerRequestMax, query));
      },
    }),
  ];
}

interface ChartQuery extends WantedCandles {
  readonly fromS: number;
  /** The number of requested candles before `toS`. If `countback` is present, the route ignores `fromS`. */
  readonly countback: number | undefined;
}

function* udfCandles(reader: HistoryReader, candlesMax: number, query: ChartQuery): InPieces<HistoryResult> {
  const { fromS, toS, countback } = query;
  const runs = yield* countback === undefined
    ? reader.range(query, fromS)
    : reader.last(query, Math.max(countback, 1));
  if (runs === 'too many')
    return { data: JSON.stringify(failedAnswer(`more than ${candlesMax} candles in the range`)) };
  if (startOf(runs) !== undefined) return { parts: jsonParts(runs, '{"s":"ok",') };
  const before = yield* reader.last({ ...query, toS: Math.min(fromS, toS) }, 1);
  const nextTime = before === 'too many' ? undefined : startOf(before);
  return { data: JSON.stringify({ s: 'no_data', ...(nextTime !== undefined && { nextTime }) }) };
}

/** Returns the start of the first candle. */
function startOf(runs: readonly CandleRun[]): number | undefined {
  return runs.find(({ length }) => length > 0)?.firstS;
}

function failedAnswer(errmsg: string): z.infer<typeof udfError> {
  return { s: 'error', errmsg };
}

const CONFIG_JSON = JSON.stringify({
  supported_resolutions: CHART_RESOLUTIONS,
  supports_search: true,
  supports_time: true,
  supports_group_request: false,
  supports_marks: false,
  supports_timescale_marks: false,
} satisfies z.infer<typeof udfConfig>);

/** Describes a symbol to the chart. The session has the usual hours of the market; without a calendar, all hours. */
function symbolInfo(asset: Asset, calendar: Calendar | undefined): z.infer<typeof udfSymbol> {
  const { symbol } = asset;
  return {
    name: symbol,
    ticker: symbol,
    description: asset.fullName ?? symbol,
    type: typeOf(asset),
    exchange: EXCHANGE,
    listed_exchange: EXCHANGE,
    session: calendar === undefined ? '24x7' : chartSession(calendar.hours),
    timezone: calendar === undefined ? 'Etc/UTC' : calendar.hours.timeZone,
    format: 'price',
    minmov: 1,
    pricescale: 100_000_000,
    has_intraday: true,
    has_daily: true,
    has_weekly_and_monthly: true,
    intraday_multipliers: INTRADAY_RESOLUTIONS,
    supported_resolutions: CHART_RESOLUTIONS,
    volume_precision: 0,
    visible_plots_set: 'ohlc',
    data_status: 'streaming',
  };
}

function searchResult(asset: Asset): z.infer<typeof udfSearch>[number] {
  const { symbol } = asset;
  return {
    symbol,
    full_name: symbol,
    description: asset.fullName ?? symbol,
    exchange: EXCHANGE,
    ticker: symbol,
    type: typeOf(asset),
  };
}

/** Returns the kind of asset for a chart. For an asset without a class, the calendar decides. */
function typeOf({ assetClass, calendar }: Asset): string {
  return assetClass ?? (calendar === 'none' ? 'crypto' : calendar);
}
