import { z } from 'zod';
import { candleColumns } from './value_schemas.js';

export const udfConfig = z
  .strictObject({
    supported_resolutions: z.array(z.string()),
    supports_search: z.literal(true),
    supports_time: z.literal(true),
    supports_group_request: z.literal(false),
    supports_marks: z.literal(false),
    supports_timescale_marks: z.literal(false),
  })
  .meta({ id: 'UdfConfig' });

export const udfSymbol = z
  .strictObject({
    name: z.string(),
    ticker: z.string(),
    description: z.string(),
    type: z.string(),
    exchange: z.string(),
    listed_exchange: z.string(),
    session: z.string(),
    timezone: z.string(),
    format: z.literal('price'),
    minmov: z.int(),
    pricescale: z.int(),
    has_intraday: z.literal(true),
    has_daily: z.literal(true),
    has_weekly_and_monthly: z.literal(true),
    intraday_multipliers: z.array(z.string()),
    supported_resolutions: z.array(z.string()),
    volume_precision: z.int(),
    visible_plots_set: z.literal('ohlc'),
    data_status: z.literal('streaming'),
  })
  .meta({ id: 'UdfSymbol' });

export const udfError = z
  .strictObject({ s: z.literal('error'), errmsg: z.string() })
  .meta({ id: 'UdfError' });

export const udfSearch = z.array(
  z.strictObject({
    symbol: z.string(),
    full_name: z.string(),
    description: z.string(),
    exchange: z.string(),
    ticker: z.string(),
    type: z.string(),
  }),
);

const udfCandles = z.strictObject({ s: z.literal('ok'), ...candleColumns }).meta({ id: 'UdfCandles' });
const udfNoData = z
  .strictObject({
    s: z.literal('no_data'),
    nextTime: z.int().optional().describe('Start of the last candle before the range, UNIX seconds'),
  })
  .meta({ id: 'UdfNoData' });
export const udfHistory = z.discriminatedUnion('s', [udfCandles, udfNoData, udfError]);

const values = z.strictObject({
  short_name: z.string(),
  description: z.string(),
  lp: z.number().describe('The last price'),
  ch: z.number().describe('The last price less `prev_close_price`'),
  chp: z.number().describe('`ch` in percent of `prev_close_price`'),
  prev_close_price: z
    .number()
    .describe('The last close before today, or the first price of today where there is none'),
  open_price: z.number().optional().describe('Absent, like the next two, without a price of today'),
  high_price: z.number().optional(),
  low_price: z.number().optional(),
});

export const udfQuote = z.discriminatedUnion('s', [
  z
    .strictObject({ s: z.literal('ok'), n: z.string().describe('The symbol'), v: values })
    .meta({ id: 'UdfQuote' }),
  z.strictObject({ s: z.literal('error'), n: z.string(), v: z.strictObject({}) }).meta({
    id: 'UdfNoQuote',
    description: 'An unknown asset, one that the token does not cover, or one without a price',
  }),
]);

export const udfQuotes = z
  .strictObject({ s: z.literal('ok'), d: z.array(udfQuote) })
  .meta({ id: 'UdfQuotes' });
