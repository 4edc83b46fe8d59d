import { NotLoaded } from '../../log/store/follower.js';
import { type Budget, UNLIMITED } from '../../model/budget.js';
import { BudgetQueue } from '../../model/budget_queue.js';
import type { Clock } from '../../model/time.js';
import type { Caller } from '../access/logins.js';
import { acceptsEncoding, gzipped } from '../http/content_encoding.js';
import { PartedBody } from '../http/parted_body.js';
import { parseQuery } from '../http/query.js';
import { VARY } from '../http/response_head.js';
import { failure, type LateAnswer, type RestRequest, type RestResponse } from '../http/rest_exchange.js';
import type { CachedAnswers } from './answer_cache.js';
import type { AskedText } from './asked_index.js';
import type { Route, RouteError } from './route.js';
import type { LateRouteResult, RouteAnswer, RouteParts } from './route_result.js';

export interface RouteRunnerOptions {
  /** Returns a caller's budget of aggregates that are read from the past. */
  readonly rangeRowsOf: (caller: Caller) => Budget;
  readonly clock: Clock;
  readonly answers: CachedAnswers;
  /** Called with an error in the code of a route. The client receives no detail of the error. */
  readonly onFault: (path: string, error: unknown) => void;
}

/** A request whose caller may use the route now. */
export interface AdmittedRequest {
  readonly request: RestRequest;
  readonly route: Route;
  /** The caller; `undefined` on an open route. */
  readonly caller: Caller | undefined;
  /** The name to which the memory of an unread answer is counted. */
  readonly payer: string;
  /** The headers of the request limit, which each answer has. */
  readonly headers: RestResponse['headers'];
}

/** Runs routes and answers with their results. Answers that stay correct for a while come from a cache. */
export class RouteRunner {
  readonly #options: RouteRunnerOptions;
  readonly #queues = new WeakMap<Budget, BudgetQueue>();

  constructor(options: RouteRunnerOptions) {
    this.#options = options;
  }

  answer(admitted: AdmittedRequest): RestResponse {
    const { request, caller, payer, headers } = admitted;
    const asked = { caller: caller?.name ?? '', path: request.path, query: request.query };
    const repeated = this.#options.answers.texts.findAsked(asked);
    // A spread here would cost 1.5 µs, which is 10 % of a whole request.
    if (repeated !== undefined) return { status: 200, headers, body: repeated, payer };
    return { ...this.#parsedAnswer(admitted, asked), payer };
  }

  #parsedAnswer(admitted: AdmittedRequest, asked: AskedText): RestResponse {
    const { request, route, caller, headers } = admitted;
    const query = parseQuery(request.query);
    if (typeof query === 'string') return failure(400, query, headers);
    const key = answerKey(caller, request.path, route, query);
    const { texts, parted } = this.#options.answers;
    const known = texts.find(key, asked) ?? parted.find(key, asked);
    if (known !== undefined) return { status: 200, headers, body: known };
    try {
      const result = route.handle(query, caller, request.body);
      if ('error' in result) return refusalOf(result, headers);
      if ('later' in result) {
        const later = this.#answerLater(admitted, result);
        const known = [...headers, ...Object.entries(route.headers)];
        return { status: 200, headers: known, body: '', later, abandon: result.abandon };
      }
      const body = bodyOf(route, result);
      const { isCurrent } = result;
      const cache = typeof body === 'string' ? texts : parted;
      return {
        status: 200,
        headers: [...headers, ...Object.entries(route.headers)],
        body: isCurrent ? cache.keep(key, asked, body, isCurrent) : body,
        ...(route.raw && { contentType: contentType(route.raw) }),
      };
    } catch (error) {
      return this.#faultAnswer(request.path, error, headers);
    }
  }

  async #answerLater(
    { request: { path, acceptEncoding = '' }, route, caller }: AdmittedRequest,
    { later }: LateRouteResult,
  ): Promise<LateAnswer> {
    try {
      const result = await later;
      if ('error' in result) return refusalOf(result, []);
      if ('data' in result || 'parts' in result) {
        const type = route.raw && { contentType: contentType(route.raw) };
        return { status: 200, headers: [], body: bodyOf(route, result), ...type };
      }
      const { contentType: streamType, headers, isText } = result;
      const budget = caller === undefined ? UNLIMITED : this.#options.rangeRowsOf(caller);
      const queue = this.#queueOf(budget);
      const parts = this.#watchedParts(
        path,
        result.open((rows) => queue.pay(rows)),
      );
      const answer = { status: 200, body: '', contentType: streamType } as const;
      if (!isText) return { ...answer, headers, parts };
      const varied = [...headers, [VARY, 'Accept-Encoding']] as const;
      if (!acceptsEncoding(acceptEncoding, 'gzip')) return { ...answer, headers: varied, parts };
      return { ...answer, headers: [...varied, ['Content-Encoding', 'gzip']], parts: gzipped(parts) };
    } catch (error) {
      return this.#faultAnswer(path, error, []);
    }
  }

  /** Passes the parts on, and reports an error that occurs while a part is made. */
  async *#watchedParts(path: string, parts: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    try {
      yield* parts;
    } catch (error) {
      this.#options.onFault(path, error);
      throw error;
    }
  }

  /** Returns the queue of a caller's answers, which share the caller's budget of rows. */
  #queueOf(budget: Budget): BudgetQueue {
    let queue = this.#queues.get(budget);
    if (queue === undefined) {
      queue = new BudgetQueue(budget, () => this.#options.clock.nowNs(), setTimeout);
      this.#queues.set(budget, queue);
    }
    return queue;
  }

  #faultAnswer(path: string, error: unknown, headers: RestResponse['headers']): RestResponse {
    if (error instanceof NotLoaded) return failure(503, error.message, [...headers, ['Retry-After', '1']]);
    this.#options.onFault(path, error);
    return failure(500, 'internal error', headers);
  }
}

/** Makes the body of an answer. The body wraps the text, except for a raw route. */
function bodyOf({ raw }: Route, answer: RouteAnswer | RouteParts): string | PartedBody {
  const { invalid } = answer;
  const suffix = invalid === undefined ? '}' : `,"invalid":${JSON.stringify(invalid)}}`;
  if ('data' in answer) return raw ? answer.data : `${PREFIX}${answer.data}${suffix}`;
  return new PartedBody(raw ? answer.parts : [Buffer.from(PREFIX), ...answer.parts, Buffer.from(suffix)]);
}

const PREFIX = '{"data":';

/** Makes the response of an error. Times are integers with all their digits. */
function refusalOf(
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
