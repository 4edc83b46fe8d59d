import { NS_PER_SECOND } from '../../model/time.js';
import { failure, type RestRequest, type RestResponse } from '../http/rest_exchange.js';
import type { RateLimiter } from './rate_limit.js';

export interface RefusedRequestsOptions {
  /** Returns the client address to which limits count a request. */
  readonly clientOf: (request: RestRequest) => string;
  readonly limiter: RateLimiter;
  /** `limits.refused_requests_per_minute` */
  readonly perMinute: number;
}

const MINUTE_NS = 60n * NS_PER_SECOND;

/** The answer to a refused request past the limit. A connection receives this answer only once. */
const TOO_MANY: RestResponse = {
  ...failure(429, 'too many refused requests from this address', [['Retry-After', '1']]),
  closeConnection: true,
};

/**
 * Limits the requests of a client address that no other limit counts: preflights, and requests that were refused with 4xx before their
 * token or address was charged. Past the limit, such a request ends its connection.
 */
export class RefusedRequests {
  readonly #options: RefusedRequestsOptions;

  constructor(options: RefusedRequestsOptions) {
    this.#options = options;
  }

  /** @returns the same response, or the response that ends the connection */
  checked(request: RestRequest, response: RestResponse): RestResponse {
    const { status, payer } = response;
    if (payer !== undefined || !isRefusal(status)) return response;
    const { clientOf, limiter, perMinute } = this.#options;
    return limiter.take(clientOf(request), perMinute, MINUTE_NS).allowed ? response : TOO_MANY;
  }
}

/**
 * Recognises refusals. Status 204 answers a preflight, and 501 answers an unknown method. Other 5xx statuses are faults of the
 * service.
 */
function isRefusal(status: number): boolean {
  return (status >= 400 && status < 500) || status === 204 || status === 501;
}
