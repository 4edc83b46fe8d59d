import { type Budget, UNLIMITED } from '../../fair/budget.js';
import type { Clock } from '../../model/time.js';
import { NotLoaded } from '../../store/follower.js';
import type { Caller, Logins } from '../access/logins.js';
import { limitHeaders, type RateLimiter } from '../access/rate_limit.js';
import { Token } from '../access/tokens.js';
import { PartedBody } from '../http/parted_body.js';
import { parseQuery } from '../http/query.js';
import { failure, type LateAnswer, type RestRequest, type RestResponse } from '../http/rest_exchange.js';
import type { AnswerCache } from './answer_cache.js';
import type { Route, RouteError } from './route.js';
import type { LateRouteResult, PayRows, RouteAnswer, RouteParts } from './route_result.js';

export interface RestOptions {
  readonly routes: () => ReadonlyMap<string, Route>;
  readonly logins: Logins;
  /** Returns the client address to which limits count a request. */
  readonly clientOf: (request: RestRequest) => string;
  readonly limiter: RateLimiter;
  /** Returns a caller's budget of aggregates that are read from the past. */
  readonly rangeRowsOf: (caller: Caller) => Budget;
  readonly clock: Clock;
  /** The cache of answers. The owner of the cache must clear it when the routes or tokens change. */
  readonly answers: AnswerCache;
  /**
   * The limit of requests per second. The limit applies to client addresses on routes without a token, and to publishers that log
   * in with a signature.
   */
  readonly requestsPerSecond: number;
  /** Called with an error in the code of a route. The client receives no detail of the error. */
  readonly onFault: (path: string, error: unknown) => void;
}

/** Makes the REST API without sockets: a function from a request to a response. */
export function createRest(options: RestOptions): (request: RestRequest) => RestResponse {
  const { routes, logins, clientOf, limiter, rangeRowsOf, clock, answers, requestsPerSecond, onFault } =
    options;
  return (request) => {
    if (request.hasBody && request.body === undefined)
      return { ...failure(400, 'a request body is not accepted here'), closeConnection: true };
    if (request.fault !== undefined) return failure(400, request.fault);
    const route = routes().get(request.path);
    if (route === undefined) return failure(404, 'no such path');
    if (request.method !== route.method)
      return failure(405, `only ${route.method} is served here`, [['Allow', route.method]]);

    const caller = authorize(request, route);
    if (caller !== undefined && 'status' in caller) return caller;
    const payer = payerOf(request, caller);
    const allowance = limiter.take(
      payer,
      caller instanceof Token ? caller.config.requestsPerSecond : requestsPerSecond,
    );
    const headers = limitHeaders(allowance);
    if (!allowance.allowed) return failure(429, 'too many requests', headers);

    const asked = `${caller?.name ?? ''} ${request.path}?${request.query}`;
    const repeated = answers.findAsked(asked);
    // A spread here would cost 1.5 µs, which is 10 % of a whole request.
    if (repeated !== undefined) return { status: 200, headers, body: repeated, payer };
    return { ...answer(request, asked, route, caller, headers), payer };
  };

  function answer(
    request: RestRequest,
    asked: string,
    route: Route,
    caller: Caller | undefined,
    headers: RestResponse['headers'],
  ): RestResponse {
    const query = parseQuery(request.query);
    if (typeof query === 'string') return failure(400, query, headers);
    const key = answerKey(caller, request.path, route, query);
    const known = answers.find(key, asked);
    if (known !== undefined) return { status: 200, headers, body: known };
    try {
      const result = route.handle(query, caller, request.body);
      if ('error' in result) return refusal(result, headers);
      if ('later' in result)
        return { status: 200, headers, body: '', later: answerLater(request.path, route, caller, result) };
      const body = bodyOf(route, result);
      const isCurrent = 'data' in result ? result.isCurrent : undefined;
      return {
        status: 200,
        headers: [...headers, ...Object.entries(route.headers)],
        body: isCurrent && typeof body === 'string' ? answers.keep(key, asked, body, isCurrent) : body,
        ...(route.raw && { contentType: contentType(route.raw) }),
      };
    } catch (error) {
      return fault(request.path, error, headers);
    }
  }

  async function answerLater(
    path: string,
    route: Route,
    caller: Caller | undefined,
    { later }: LateRouteResult,
  ): Promise<LateAnswer> {
    try {
      const result = await later;
      if ('error' in result) return refusal(result, Object.entries(route.headers));
      if ('data' in result || 'parts' in result) {
        const type = route.raw && { contentType: contentType(route.raw) };
        return { status: 200, headers: Object.entries(route.headers), body: bodyOf(route, result), ...type };
      }
      const { contentType: streamType, headers } = result;
      const budget = caller === undefined ? UNLIMITED : rangeRowsOf(caller);
      const parts = watched(path, result.open(payerFrom(budget)));
      return { status: 200, headers, body: '', contentType: streamType, parts };
    } catch (error) {
      return fault(path, error, []);
    }
  }

  /** Passes the parts on, and reports an error that occurs while a part is made. */
  async function* watched(path: string, parts: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    try {
      yield* parts;
    } catch (error) {
      onFault(path, error);
      throw error;
    }
  }

  /** Returns the function that takes rows from a budget. Each pause of an answer counts as one refusal. */
  function payerFrom(budget: Budget): PayRows {
    let isPaused = false;
    return (rows) => {
      const isPaid = budget.take(rows, clock.nowNs());
      if (!isPaid && !isPaused) budget.countRefusal();
      isPaused = !isPaid;
      return isPaid;
    };
  }

  function fault(path: string, error: unknown, headers: RestResponse['headers']): RestResponse {
    if (error instanceof NotLoaded) return failure(503, error.message, [...headers, ['Retry-After', '1']]);
    onFault(path, error);
    return failure(500, 'internal error', headers);
  }

  function authorize(request: RestRequest, { access, scope }: Route): Caller | RestResponse | undefined {
    if (access === 'open') return undefined;
    return access === 'token' ? logins.authorize(request, scope) : logins.authorizePublisher(request);
  }

  /** Returns the name of the caller who pays for the request. Request rates and the memory of unread answers use this name. */
  function payerOf(request: RestRequest, caller: Caller | undefined): string {
    if (caller === undefined) return `address ${clientOf(request)}`;
    return `${caller instanceof Token ? 'token' : 'publisher'} ${caller.name}`;
  }
}

/** Makes the body of an answer. The body wraps the text, except for a raw route. */
function bodyOf({ raw }: Route, answer: RouteAnswer | RouteParts): RestResponse['body'] {
  if ('data' in answer) return raw ? answer.data : `${PREFIX}${answer.data}${SUFFIX}`;
  return new PartedBody(raw ? answer.parts : [Buffer.from(PREFIX), ...answer.parts, Buffer.from(SUFFIX)]);
}

const PREFIX = '{"data":';
const SUFFIX = '}';

/** Makes the response of an error. Times are integers with all their digits. */
function refusal(
  { status, error, keptFromNs, damaged, headers: own = [] }: RouteError,
  headers: RestResponse['headers'],
): RestResponse {
  const retry = [429, 503].includes(status) ? [['Retry-After', '1'] as const] : [];
  const response = failure(status, error, [...headers, ...own, ...retry]);
  const times = [
    ...(damaged === undefined ? [] : [`"damaged":{"from":${damaged.firstNs},"to":${damaged.lastNs}}`]),
    ...(keptFromNs === undefined ? [] : [`"kept_from":${keptFromNs}`]),
  ];
  if (times.length === 0) return response;
  return { ...response, body: `{"error":${JSON.stringify(error)},${times.join()}}` };
}

/**
 * Returns a key that is the same for all requests with the same answer. The key leaves out parameters that the route does not
 * know.
 */
function answerKey(
  caller: Caller | undefined,
  path: string,
  { parameters }: Route,
  query: ReadonlyMap<string, string>,
): string {
  return JSON.stringify([caller?.name, path, ...Object.keys(parameters).map((name) => query.get(name))]);
}

/** Returns the content type. JSON is always UTF-8 by its standard; for text, the header must name UTF-8. */
function contentType(raw: NonNullable<Route['raw']>): string {
  return raw.startsWith('text/') ? `${raw}; charset=utf-8` : raw;
}
