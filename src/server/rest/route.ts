import { z } from 'zod';
import type { Scope } from '../../config/config.js';
import type { Asset, SignatureType } from '../../model/asset.js';
import { SYMBOL_LENGTH_MAX, SYMBOL_PATTERN, unknownSymbols } from '../../wire/asset_id.js';
import { SIGNATURE_TYPES } from '../../wire/signatures.js';
import type { Caller } from '../access/logins.js';
import type { PublisherLogin } from '../access/publisher_login_check.js';
import type { Token } from '../access/tokens.js';
import type { RouteError, RouteResult } from './route_result.js';

export type { RouteAnswer, RouteError, RouteResult } from './route_result.js';

/** A query parameter, with its documentation and the schema that reads its text. */
export interface Parameter<T = unknown> {
  readonly description: string;
  readonly required: boolean;
  /** The schema of the decoded text. */
  readonly schema: z.ZodType<T, string>;
}

export type ParameterTable = Readonly<Record<string, Parameter>>;

type Values<P extends ParameterTable> = {
  readonly [K in keyof P]: P[K] extends {
    readonly required: true;
    readonly schema: z.ZodType<infer T, string>;
  }
    ? T
    : P[K] extends { readonly schema: z.ZodType<infer T, string> }
      ? T | undefined
      : never;
};

/** The facts of a path of the REST API that the documentation shows. */
export interface DescribedRoute {
  readonly summary: string;
  readonly method: 'GET' | 'POST';
  readonly access: RouteAccess;
  /** The scope that a token needs for the route. */
  readonly scope: Scope;
  readonly parameters: ParameterTable;
  /** The schema of `data`, or of the body of a raw route. */
  readonly response: z.ZodType;
  /** The content type of a body that the answer does not wrap in `data`. */
  readonly raw:
    | 'application/json'
    | 'application/x-ndjson'
    | 'text/plain'
    | 'text/html'
    | 'text/event-stream'
    | undefined;
  /** The error statuses of this route, in addition to the error statuses of every route. */
  readonly errors: readonly RouteError['status'][];
  /** Headers of an answer with 200. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A path of the REST API. */
export interface Route extends DescribedRoute {
  /** @param body the body of a POST */
  handle(query: ReadonlyMap<string, string>, caller: Caller | undefined, body?: string): RouteResult;
}

/**
 * The callers that a route admits.
 * - `open`: everyone; the rate limit applies per client address.
 * - `token`: holders of a token.
 * - `login`: publishers that log in with a signature.
 */
export type RouteAccess = 'open' | 'token' | 'login';

interface RouteDefinition<P extends ParameterTable> {
  readonly summary: string;
  readonly parameters?: P;
  readonly response: z.ZodType;
  readonly raw?: Route['raw'];
  readonly errors?: Route['errors'];
  readonly headers?: Route['headers'];
}

/** Makes a route for callers with a token. The token needs the scope `rest`, unless the route names another scope. */
export function tokenRoute<P extends ParameterTable>(
  definition: RouteDefinition<P> & {
    readonly scope?: Scope;
    handle(values: Values<P>, token: Token): RouteResult;
  },
): Route {
  const route = build(definition, 'token', (values, caller) => definition.handle(values, caller as Token));
  return { ...route, scope: definition.scope ?? route.scope };
}

/** Makes a route for everyone. */
export function openRoute<P extends ParameterTable>(
  definition: RouteDefinition<P> & { handle(values: Values<P>): RouteResult },
): Route {
  return build(definition, 'open', definition.handle);
}

/** Makes a route for publishers that log in with a signature. */
export function loginRoute<P extends ParameterTable>(
  definition: RouteDefinition<P> & {
    readonly method: Route['method'];
    handle(values: Values<P>, login: PublisherLogin, body: string): RouteResult;
  },
): Route {
  const handle = (values: Values<P>, caller: Caller | undefined, body: string) =>
    definition.handle(values, caller as PublisherLogin, body);
  return { ...build(definition, 'login', handle), method: definition.method };
}

function build<P extends ParameterTable>(
  { summary, parameters = {} as P, response, raw, errors = [], headers = {} }: RouteDefinition<P>,
  access: RouteAccess,
  handle: (values: Values<P>, caller: Caller | undefined, body: string) => RouteResult,
): Route {
  const entries = Object.entries(parameters);
  return {
    summary,
    method: 'GET',
    access,
    scope: 'rest',
    parameters,
    response,
    raw,
    errors,
    headers,
    handle(query, caller, body = '') {
      const values: Record<string, unknown> = {};
      for (const [name, { schema, required }] of entries) {
        const text = query.get(name);
        if (text === undefined) {
          if (required) return { status: 400, error: `${name} is missing` };
          continue;
        }
        const read = schema.safeParse(text);
        if (!read.success) return { status: 400, error: `${name} ${read.error.issues[0]!.message}` };
        values[name] = read.data;
      }
      return handle(values as Values<P>, caller, body);
    },
  };
}

/** The largest number with 15 digits. A double holds this number exactly, and also ten times this number. */
const SECONDS_MAX = 10 ** 15 - 1;

/** Whole UNIX seconds. */
export const unixSeconds = z
  .string()
  .regex(/^-?\d{1,15}$/, 'is not an integer of UNIX seconds')
  .transform(Number)
  .meta({ type: 'integer', format: 'int64', minimum: -SECONDS_MAX, maximum: SECONDS_MAX });

/** The year 2255. A double and an `int64` hold this number exactly. */
const NANOSECONDS_MAX = 9 * 10 ** 18;

/** UNIX nanoseconds, with all their digits. */
export const unixNanoseconds = z
  .string()
  .refine(
    (text) => /^\d{1,19}$/.test(text) && BigInt(text) <= NANOSECONDS_MAX,
    `is not an integer of UNIX nanoseconds, from 0 to ${NANOSECONDS_MAX}`,
  )
  .transform(BigInt)
  .meta({ type: 'integer', format: 'int64', minimum: 0, maximum: NANOSECONDS_MAX });

const COUNT_MAX = 999_999;

/** The number of requested items. */
export const count = z
  .string()
  .regex(/^\d{1,6}$/, `is not a number from 0 to ${COUNT_MAX}`)
  .transform(Number)
  .meta({ type: 'integer', minimum: 0, maximum: COUNT_MAX });

/**
 * The ASCII white space around symbols in a list. The patterns leave out other white space, because dialects of regular
 * expressions disagree about it.
 */
const SPACES = '[\\x09-\\x0d ]*';
const EMPTY = new RegExp(`^${SPACES}$`);
const SPACED_SYMBOL = `${SPACES}${SYMBOL_PATTERN}${SPACES}`;

/** Symbols separated by commas. The schema removes spaces around symbols, and removes repetitions. */
export const assetList = z
  .string()
  .transform((text) => [...new Set(text.split(',').map((symbol) => symbol.trim() || symbol))])
  .refine((symbols) => !symbols.some((symbol) => EMPTY.test(symbol)), 'has an empty element')
  .meta({ pattern: `^${SPACED_SYMBOL}(?:,${SPACED_SYMBOL})*$` });

/** Returns the parameter for the assets of a request. */
export function assetsParameter(assetsMax: number) {
  return {
    description: `Comma-separated list of at most ${assetsMax} different asset symbols`,
    required: true,
    schema: assetList,
  } as const;
}

/**
 * Finds an asset. Without a type, the result is the EVM asset of the symbol, or the Stark asset if the symbol has no EVM asset.
 */
export type FindAsset = (symbol: string, signatureType?: SignatureType) => Asset | undefined;

/** The assets that a request names. */
export interface AssetSelection {
  readonly symbols: readonly string[];
  /** The type of all assets, if the request names a type. */
  readonly signatureType: SignatureType | undefined;
}

/** The only asset that a request names. */
export interface WantedAsset {
  /** The name of the parameter with the symbol. */
  readonly parameter: string;
  readonly symbol: string;
  /** The signature type, if the request names a type. */
  readonly signatureType: SignatureType | undefined;
}

/** Finds the assets that a request names, if the token may see them. The error names every wrong symbol. */
export function findAssets(
  { symbols, signatureType }: AssetSelection,
  token: Token,
  assetsMax: number,
  find: FindAsset,
): readonly Asset[] | RouteError {
  if (symbols.length > assetsMax)
    return badRequest(`assets names ${symbols.length} assets, assets_per_request is ${assetsMax}`);
  const unknown = symbols.filter((symbol) => find(symbol) === undefined);
  if (unknown.length > 0) return badRequest(`assets names unknown assets: ${named(unknown, token, find)}`);
  const refusal = refuseForeign(symbols, token);
  if (refusal !== undefined) return refusal;
  const assets = symbols.map((symbol) => find(symbol, signatureType));
  const missing = symbols.filter((_, i) => assets[i] === undefined);
  return missing.length > 0 ? typeMissing(signatureType!, missing) : (assets as Asset[]);
}

/** Returns an error with the symbols that the token may not see. */
export function refuseForeign(symbols: readonly string[], token: Token): RouteError | undefined {
  const foreign = symbols.filter((symbol) => !token.maySee(symbol));
  if (foreign.length === 0) return undefined;
  return { status: 403, error: `the access token does not cover these assets: ${foreign.join(', ')}` };
}

/** Finds the asset that a parameter names, if the token may see it. */
export function findAsset(
  { parameter, symbol, signatureType }: WantedAsset,
  token: Token,
  find: FindAsset,
): Asset | RouteError {
  if (find(symbol) === undefined)
    return badRequest(`${parameter} names an unknown asset: ${named([symbol], token, find)}`);
  if (!token.maySee(symbol))
    return { status: 403, error: `the access token does not cover this asset: ${symbol}` };
  return find(symbol, signatureType) ?? typeMissing(signatureType!, [symbol]);
}

function named(unknown: readonly string[], token: Token, find: FindAsset): string {
  return unknownSymbols(unknown, (symbol) => token.maySee(symbol) && find(symbol) !== undefined);
}

function typeMissing(signatureType: SignatureType, symbols: readonly string[]): RouteError {
  return badRequest(`signature_type is ${signatureType}, in which there is no ${symbols.join(', ')}`);
}

function badRequest(error: string): RouteError {
  return { status: 400, error };
}

/** A parameter that names an asset. */
export const assetParameter = {
  description: 'Symbol of the asset',
  required: true,
  // This pattern appears only in the documentation. An invalid symbol belongs to no asset, so a request with such a symbol gets the error
  // for unknown symbols, which is clearer.
  schema: z.string().meta({ pattern: `^${SYMBOL_PATTERN}$`, maxLength: SYMBOL_LENGTH_MAX }),
} as const;

/** A parameter that adds facts to an aggregate. */
export const qualityParameter = {
  description:
    "With `true`, each aggregate whose inputs are kept has `quality`: the number of publishers that counted, the newest input's age and the spread of the inputs",
  required: false,
  schema: z
    .string()
    .refine((text) => text === 'true' || text === 'false', 'must be true or false')
    .transform((text) => text === 'true')
    .meta({ type: 'boolean' }),
} as const;

/** A parameter that chooses between the assets of a symbol. */
export const signatureTypeParameter = {
  description: 'Signature type. Without it, a symbol that has both types means its EVM asset',
  required: false,
  schema: z
    .enum(SIGNATURE_TYPES, { error: `must be ${SIGNATURE_TYPES.join(' or ')}` })
    .meta({ title: 'WantedSignatureType' }),
} as const;
