import type { Asset } from '../model/asset.js';
import type { Denial, Token, TokenDirectory } from './auth.js';
import { parseQuery } from './query.js';
import type { Allowance, RateLimiter } from './rate_limit.js';

/** A request as the routes see it; the bytes are gone. */
export interface RestRequest {
  /** As it came, in any case. */
  readonly method: string;
  readonly path: string;
  /** The text behind `?`, undecoded. */
  readonly query: string;
  /** Every `Authorization` header. */
  readonly authorization: readonly string[];
  /** The client's address. */
  readonly address: string;
  /** Whether it announces a body. */
  readonly hasBody: boolean;
}

export interface RestResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** `application/json` when left out. */
  readonly contentType?: string;
  readonly closeConnection?: boolean;
}

/** What a route answers: the JSON text of `data`, or an error. */
export type RouteResult = { readonly data: string } | RouteError;

export interface RouteError {
  readonly status: 400 | 403 | 404 | 500;
  readonly error: string;
}

export interface Route {
  /** Routes without a token count requests per client address. */
  readonly open?: boolean;
  handle(query: ReadonlyMap<string, string>, token: Token | undefined): RouteResult;
}

export interface RestOptions {
  readonly routes: ReadonlyMap<string, Route>;
  readonly tokens: () => TokenDirectory;
  readonly limiter: RateLimiter;
  /** For routes without a token. */
  readonly requestsPerSecond: number;
  /** Told of a bug in a route; the client is told nothing of its inside. */
  readonly onFault: (path: string, error: unknown) => void;
}

/** The REST API without its sockets: a request in, a response out (contract §4). */
export function createRest(options: RestOptions): (request: RestRequest) => RestResponse {
  const { routes, tokens, limiter, requestsPerSecond, onFault } = options;
  return (request) => {
    if (request.hasBody)
      return { ...failure(400, 'a request body is not accepted here'), closeConnection: true };
    const route = routes.get(request.path);
    if (route === undefined) return failure(404, 'no such path');
    if (request.method.toUpperCase() !== 'GET')
      return failure(405, 'only GET is served here', [['Allow', 'GET']]);

    const token = route.open ? undefined : tokens().authorize(request.authorization, 'rest');
    if (token !== undefined && 'status' in token) return denied(token);
    const allowance = token
      ? limiter.take(`token ${token.name}`, token.config.requestsPerSecond)
      : limiter.take(`address ${request.address}`, requestsPerSecond);
    const headers = limitHeaders(allowance);
    if (!allowance.allowed) return failure(429, 'too many requests', headers);

    const query = parseQuery(request.query);
    if (typeof query === 'string') return failure(400, query, headers);
    try {
      const result = route.handle(query, token);
      if ('error' in result) return failure(result.status, result.error, headers);
      return { status: 200, headers, body: `{"data":${result.data}}` };
    } catch (error) {
      onFault(request.path, error);
      return failure(500, 'internal error', headers);
    }
  };
}

export function failure(status: number, error: string, headers: RestResponse['headers'] = []): RestResponse {
  return { status, headers, body: JSON.stringify({ error }) };
}

export function denied({ status, error }: Denial): RestResponse {
  return failure(status, error, status === 401 ? [['WWW-Authenticate', 'Basic realm="tickseal"']] : []);
}

function limitHeaders({ allowed, limit, remaining, resetS, retryAfterS }: Allowance): [string, string][] {
  const headers: [string, string][] = [
    ['RateLimit-Limit', String(limit)],
    ['RateLimit-Remaining', String(remaining)],
    ['RateLimit-Reset', String(resetS)],
  ];
  if (!allowed) headers.push(['Retry-After', String(retryAfterS)]);
  return headers;
}

/** Reads the parameter `assets` (contract §4): trimmed, repeats count once, all unknown ones named. */
export function readAssets(
  query: ReadonlyMap<string, string>,
  token: Token,
  assetsMax: number,
  assetBySymbol: (symbol: string) => Asset | undefined,
): readonly Asset[] | RouteError {
  const text = query.get('assets');
  if (text === undefined) return { status: 400, error: 'assets is missing' };
  const symbols = [...new Set(text.split(',').map((symbol) => symbol.trim()))];
  if (symbols.includes('')) return { status: 400, error: 'assets has an empty element' };
  if (symbols.length > assetsMax)
    return {
      status: 400,
      error: `assets names ${symbols.length} assets, assets_per_request is ${assetsMax}`,
    };
  const assets = symbols.map(assetBySymbol);
  const unknown = symbols.filter((_, i) => assets[i] === undefined);
  if (unknown.length > 0) return { status: 400, error: `assets names unknown assets: ${unknown.join(', ')}` };
  const foreign = symbols.filter((symbol) => !token.maySee(symbol));
  if (foreign.length > 0)
    return { status: 403, error: `the access token does not cover these assets: ${foreign.join(', ')}` };
  return assets as Asset[];
}

/** Reads a required parameter of whole UNIX seconds. */
export function readSeconds(query: ReadonlyMap<string, string>, name: string): number | RouteError {
  const text = query.get(name);
  if (text === undefined) return { status: 400, error: `${name} is missing` };
  const seconds = Number(text);
  if (!/^-?\d{1,15}$/.test(text) || !Number.isSafeInteger(seconds))
    return { status: 400, error: `${name} is not an integer of UNIX seconds` };
  return seconds;
}
