import { NS_PER_SECOND, type TimeNs } from '../../model/time.js';
import { PAGE_PATHS } from '../../wire/paths.js';
import type { Logins } from '../access/logins.js';
import { SignedLogin } from '../access/publisher_login_check.js';
import { limitHeaders, type RateLimiter } from '../access/rate_limit.js';
import { Token } from '../access/tokens.js';
import { failure, type RestRequest, type RestResponse } from '../http/rest_exchange.js';
import type { Route } from './route.js';
import { RouteRunner, type RouteRunnerOptions } from './route_runner.js';

export interface RestOptions extends RouteRunnerOptions {
  readonly routes: () => ReadonlyMap<string, Route>;
  readonly logins: Logins;
  /** Returns the client address to which limits count a request. */
  readonly clientOf: (request: RestRequest) => string;
  readonly limiter: RateLimiter;
  /**
   * The limit of requests per second. The limit applies to client addresses on routes without a token, and to publishers that log
   * in with a signature.
   */
  readonly requestsPerSecond: number;
}

/** The REST API without sockets. It admits each request, and then runs the request's route. */
export class RestApi {
  readonly #options: RestOptions;
  readonly #runner: RouteRunner;

  constructor(options: RestOptions) {
    this.#options = options;
    this.#runner = new RouteRunner(options);
  }

  answer(request: RestRequest): RestResponse {
    if (request.hasBody && request.body === undefined)
      return { ...failure(400, 'a request body is not accepted here'), closeConnection: true };
    if (request.fault !== undefined) return failure(400, request.fault);
    const route = this.#options.routes().get(request.path);
    if (route === undefined) return failure(404, `no such path: ${PAGE_PATHS.documents} lists all paths`);
    const response =
      request.method === route.method ? this.#admit(request, route) : otherMethod(route.method);
    return route.access === 'open' ? { ...response, isPublic: true } : response;
  }

  #admit(request: RestRequest, route: Route): RestResponse {
    const nowNs = this.#options.clock.nowNs();
    const login = this.#authorize(request, route, nowNs);
    if (login !== undefined && 'status' in login) return login;
    const caller = login instanceof SignedLogin ? login.publisher : login;
    const payer = login?.payer ?? `address ${this.#options.clientOf(request)}`;
    const allowance = this.#options.limiter.take(
      payer,
      caller instanceof Token ? caller.config.requestsPerSecond : this.#options.requestsPerSecond,
      NS_PER_SECOND,
      nowNs,
    );
    const headers = limitHeaders(allowance);
    if (!allowance.allowed) return failure(429, 'too many requests', headers);
    return this.#runner.answer({ request, route, caller, payer, headers });
  }

  #authorize(
    request: RestRequest,
    { access, scope }: Route,
    nowNs: TimeNs,
  ): Token | SignedLogin | RestResponse | undefined {
    if (access === 'open') return undefined;
    const { logins } = this.#options;
    return access === 'token' ? logins.authorize(request, scope, nowNs) : logins.authorizePublisher(request);
  }
}

function otherMethod(served: string): RestResponse {
  return failure(405, `only ${served} is served here: send the request with it`, [['Allow', served]]);
}
