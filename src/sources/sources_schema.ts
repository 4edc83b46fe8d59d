import { z } from 'zod';
import { parseDecimalPrice } from '../client/verify/decimal_price.js';
import { durationNs, line, positiveDecimal, symbol } from '../config/schema_values.js';
import { NS_PER_MS, NS_PER_SECOND } from '../model/time.js';

// The schema of a file of sources. Relations between its keys are in `sources_references.ts`.

export const BUILT_IN_KINDS = ['kraken', 'coinbase', 'binance', 'okx', 'bybit', 'bitstamp'] as const;
export type BuiltInKind = (typeof BUILT_IN_KINDS)[number];

export const SOURCES_MAX = 64;
export const SOURCE_ASSETS_MAX = 1_000;
const INPUTS_MAX = 32;
const REQUEST_FIELDS_MAX = 16;
const ARGUMENTS_MAX = 64;
const AGE_NS_MAX = 7n * 86_400n * NS_PER_SECOND;

const name = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'expected a name of at most 32 lower-case letters, digits, _ and -');

const WEB = /^https?:\/\/[^\s/?#@]+(?:[/?#]\S*)?$/;
const SOCKET = /^wss?:\/\/[^\s#]+$/;

const webAddress = z
  .string()
  .max(2_048)
  .refine(
    (text) => isAddress(text, WEB),
    'expected an address such as https://…, without a user and password',
  );
const socketAddress = z
  .string()
  .max(2_048)
  .refine((text) => isAddress(text, SOCKET), 'expected an address such as wss://…');

/** The address of the service. Messages show it, so it has no place for a secret. */
const serviceAddress = z
  .string()
  .max(2_048)
  .refine(
    (text) => isAddress(text, /^wss?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/),
    'expected an address such as ws://127.0.0.1:8080/evm/publish, without a user and a query',
  );

/** Returns whether an address can be used. The errors of a library that finds a wrong port or host show the address and its keys. */
function isAddress(text: string, form: RegExp): boolean {
  return form.test(text) && URL.canParse(text.replaceAll('{symbol}', 'symbol'));
}

const jsonPath = z
  .string()
  .regex(/^\$(?:\.[\w:-]{1,64}|\[\d{1,4}\]){0,16}$/, 'expected a path such as $.rates.USD or $[0].bid');

const builtIn = z.strictObject({
  kind: z.enum(BUILT_IN_KINDS),
  url: socketAddress.optional(),
  pairs_url: webAddress.optional(),
  ticker_url: webAddress.optional(),
});

const ccxt = z.strictObject({
  kind: z.literal('ccxt'),
  exchange: z.string().regex(/^[a-z0-9]{1,32}$/, 'expected the name of an exchange of ccxt, such as gate'),
});

const requestField = z.union([
  line,
  z.strictObject({ env: z.string().regex(/^[A-Za-z_]\w*$/, 'expected the name of an environment variable') }),
]);

const requestFields = z
  .record(line, requestField)
  .refine(
    (fields) => Object.keys(fields).length <= REQUEST_FIELDS_MAX,
    `expected at most ${REQUEST_FIELDS_MAX} of them`,
  )
  .prefault({});

/** Headers, or parts of a query: a text, or the environment variable with the text. */
export type RequestFields = z.output<typeof requestFields>;

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

const http = z
  .strictObject({
    kind: z.literal('http'),
    url: webAddress,
    every: durationNs({ minNs: NS_PER_SECOND, maxNs: 86_400n * NS_PER_SECOND }),
    price: jsonPath.optional(),
    bid: jsonPath.optional(),
    ask: jsonPath.optional(),
    at: jsonPath.optional(),
    headers: requestFields.refine(
      (fields) => Object.keys(fields).every((name) => HEADER_NAME.test(name)),
      'expected names of letters, digits and -',
    ),
    query: requestFields,
  })
  .refine(
    ({ price, bid, ask }) => (price === undefined ? bid !== undefined && ask !== undefined : !bid && !ask),
    'expected either price, or bid and ask',
  );

const command = z.strictObject({
  kind: z.literal('command'),
  run: z.array(z.string().min(1).max(4_096)).min(1).max(ARGUMENTS_MAX),
});

const source = z.discriminatedUnion('kind', [builtIn, ccxt, http, command]);

const price = z.union([z.number(), z.string()]).transform((value, context) => {
  const scaled = parseDecimalPrice(String(value));
  if (scaled === undefined) context.addIssue('expected a price such as 0.5, with at most 18 decimals');
  return scaled ?? z.NEVER;
});

const asset = z.strictObject({
  from: z.array(line).min(1).max(INPUTS_MAX),
  min_sources: z.int().min(1).max(INPUTS_MAX).prefault(2),
  max_age: durationNs({ minNs: 100n * NS_PER_MS, maxNs: AGE_NS_MAX }).prefault('10s'),
  max_spread_percent: positiveDecimal().prefault(1),
  max_deviation_percent: positiveDecimal().prefault(1),
  bounds: z
    .tuple([price, price])
    .refine(([low, high]) => low < high, 'expected the lower bound first')
    .optional(),
  publish: z.boolean().prefault(true),
});

const publish = z.strictObject({
  url: serviceAddress.optional(),
  every: durationNs({ minNs: 10n * NS_PER_MS, maxNs: 86_400n * NS_PER_SECOND, stepNs: NS_PER_MS }).prefault(
    '500ms',
  ),
  delta_percent: positiveDecimal().prefault(0.1),
});

export const sourcesSchema = z.strictObject({
  sources: z
    .record(name, source)
    .refine(
      (sources) => Object.keys(sources).length <= SOURCES_MAX,
      `expected at most ${SOURCES_MAX} sources`,
    ),
  assets: z
    .record(symbol, asset)
    .refine(
      (assets) => Object.keys(assets).length <= SOURCE_ASSETS_MAX,
      `expected at most ${SOURCE_ASSETS_MAX} assets`,
    ),
  publish: publish.prefault({}),
});

export type SourcesContent = z.output<typeof sourcesSchema>;
export type SourceDefinition = z.output<typeof source>;
