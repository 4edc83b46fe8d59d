import type { Origins } from '../access/origins.js';
import { VARY } from '../http/response_head.js';
import type { RestRequest, RestResponse } from '../http/rest_exchange.js';
import { EVERY_ORIGIN } from './log_files.js';

/**
 * Adds the header that allows pages of allowed origins to read the answers of REST, including errors (the CORS protocol of the Fetch
 * standard). Answers to other pages lack this header, so the browser withholds these answers from the pages.
 */
export function withCrossOrigin(
  origins: Origins,
  rest: (request: RestRequest) => RestResponse,
): (request: RestRequest) => RestResponse {
  if (!origins.allowsAny) return rest;
  return (request) => {
    const allowed = origins.allowedAs(request.origin);
    const isPreflight = request.method === 'OPTIONS' && request.preflightMethod !== undefined;
    if (allowed === undefined || !isPreflight || request.hasBody) {
      const response = rest(request);
      // A browser refuses an answer with two values of this header.
      if (response.headers.some(([name]) => name === EVERY_ORIGIN[0])) return response;
      return { ...response, headers: [...response.headers, ...answerHeaders(allowed)] };
    }
    const headers = [...answerHeaders(allowed), ...PREFLIGHT_HEADERS];
    return { status: 204, headers, body: '', isPublic: true };
  };
}

/** The headers that a page may read. In addition, browsers let a page read the headers on the Fetch standard's own list. */
const EXPOSED =
  'RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, WWW-Authenticate, Allow, Link';

/**
 * The methods and headers that a page may send. The values are the same for every path, because a page must also be able to read the 404 of
 * an unknown path.
 */
const PREFLIGHT_HEADERS: RestResponse['headers'] = [
  ['Access-Control-Allow-Methods', 'GET'],
  ['Access-Control-Allow-Headers', 'Authorization, Last-Event-ID'],
  // The browser keeps the permission for two hours, which is the longest time that Chromium accepts.
  ['Access-Control-Max-Age', '7200'],
];

/**
 * The header that makes a cache store a separate answer for each origin. Without this header, a cache could give the answer for
 * an origin to another origin.
 */
const VARY_BY_ORIGIN = [VARY, 'Origin'] as const;

function answerHeaders(allowed: string | undefined): RestResponse['headers'] {
  if (allowed === undefined) return [VARY_BY_ORIGIN];
  return [
    VARY_BY_ORIGIN,
    ['Access-Control-Allow-Origin', allowed],
    ['Access-Control-Expose-Headers', EXPOSED],
  ];
}
