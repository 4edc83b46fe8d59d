import { z } from 'zod';

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

export const udfQuote = z.union([
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
