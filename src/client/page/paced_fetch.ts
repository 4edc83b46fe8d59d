import type { Fetch } from '../index.js';
import { pause } from './one_at_a_time.js';

/**
 * The interval of requests. A token has five requests a second by default, so this interval leaves some of them for the reader's
 * other programs.
 */
const INTERVAL_MS = 300;
/** The largest number of attempts. All attempts together take less time than the client waits for an answer. */
const TRIES_MAX = 3;
const TOO_MANY_REQUESTS = 429;
const WAIT_MS_MIN = 1_000;
const WAIT_MS_MAX = 3_000;

/** The browser's own function. */
const FETCH: Fetch = (url, init) => (fetch as unknown as Fetch)(url, init);

/**
 * Spaces the requests of `send`. When the rate limit refuses a request, all requests wait as long as the service says, and then the
 * refused request is sent again.
 */
export function pacedFetch(send = FETCH): Fetch {
  let nextMs = 0;
  return async (url, init) => {
    for (let tries = 1; ; tries++) {
      const nowMs = performance.now();
      const turnMs = Math.max(nowMs, nextMs);
      nextMs = turnMs + INTERVAL_MS;
      if (turnMs > nowMs) await pause(turnMs - nowMs);
      const response = await send(url, init);
      if (response.status !== TOO_MANY_REQUESTS || tries === TRIES_MAX) return response;
      const waitMs = Number(response.headers.get('retry-after') ?? 0) * 1_000;
      nextMs = Math.max(nextMs, performance.now() + Math.min(Math.max(waitMs, WAIT_MS_MIN), WAIT_MS_MAX));
    }
  };
}
