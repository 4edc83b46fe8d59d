import type { Allowance, RateLimiter } from '../access/rate_limit.js';
import type { TokenDirectory } from '../access/tokens.js';
import { denied } from '../access/tokens.js';
import { failure, type RestRequest, type RestResponse } from '../http/messages.js';
import { parseQuery } from '../http/query.js';
import { AnswerCache } from './answer_cache.js';
import type { Route } from './route.js';

export interface RestOptions {
  readonly routes: () => ReadonlyMap<string, Route>;
  readonly tokens: TokenDirectory;
  readonly limiter: RateLimiter;
  /** For routes without a token. */
  readonly requestsPerSecond: number;
  /** Called with a bug in a route; the client learns nothing about it. */
  readonly onFault: (path: string, error: unknown) => void;
}

/** The REST API without its sockets: a request in, a response out. */
export function createRest(options: RestOptions): (request: RestRequest) => RestResponse {
  const { routes, tokens, limiter, requestsPerSecond, onFault } = options;
  const answers = new AnswerCache();
  return (request) => {
    if (request.hasBody)
      return { ...failure(400, 'a request body is not accepted here'), closeConnection: true };
    if (request.fault !== undefined) return failure(400, request.fault);
    const route = routes().get(request.path);
    if (route === undefined) return failure(404, 'no such path');
    if (request.method.toUpperCase() !== 'GET')
      return failure(405, 'only GET is served here', [['Allow', 'GET']]);

    const token = route.open ? undefined : tokens.authorize(request.authorization, 'rest');
    if (token !== undefined && 'status' in token) return denied(token);
    const allowance = token
      ? limiter.take(`token ${token.name}`, token.config.requestsPerSecond)
      : limiter.take(`address ${request.address}`, requestsPerSecond);
    const headers = limitHeaders(allowance);
    if (!allowance.allowed) return failure(429, 'too many requests', headers);

    const known = token && answers.find(token, route, request.query);
    if (known) return { status: 200, headers, body: known.body, encoded: known.encoded };
    const query = parseQuery(request.query);
    if (typeof query === 'string') return failure(400, query, headers);
    try {
      const result = route.handle(query, token);
      if ('error' in result) return failure(result.status, result.error, headers);
      if (token && result.isCurrent) answers.keep(token, route, request.query, result);
      const allHeaders = [...headers, ...Object.entries(route.headers)];
      return route.raw
        ? { status: 200, headers: allHeaders, body: result.data, contentType: contentType(route.raw) }
        : { status: 200, headers: allHeaders, body: `{"data":${result.data}}` };
    } catch (error) {
      onFault(request.path, error);
      return failure(500, 'internal error', headers);
    }
  };
}

/** JSON is UTF-8 by its standard, text only where it says so. */
function contentType(raw: NonNullable<Route['raw']>): string {
  return raw.startsWith('text/') ? `${raw}; charset=utf-8` : raw;
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
