import { RefusedError } from '../errors.js';
import { BROWSER } from '../platform.js';
import { RestService } from '../rest.js';
import { TokenSource } from '../token_source.js';

/** A token has five requests a second by default; this leaves room for the reader's other programs. */
const INTERVAL_MS = 300;
const TOO_MANY_REQUESTS = 429;
const TRIES_MAX = 4;
const WAIT_MS_MIN = 1_000;
const WAIT_MS_MAX = 30_000;
/** Requests that wait for their turn; one more is refused. */
const WAITING_MAX = 50;

/** The REST API of this origin with the reader's token: one request after the other, and not too fast. */
export class PacedRest extends RestService {
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(token: string) {
    super(location.origin, BROWSER, new TokenSource(token, undefined));
  }

  override get(path: string): Promise<string> {
    if (this.#waiting >= WAITING_MAX) return Promise.reject(new Error('too many requests are waiting'));
    this.#waiting += 1;
    const answer = this.#turn.then(() => this.#ask(path));
    this.#turn = answer
      .catch(() => undefined)
      .then(() => {
        this.#waiting -= 1;
        return pause(INTERVAL_MS);
      });
    return answer;
  }

  /** As {@link get}, with parameters. */
  query(path: string, parameters: Readonly<Record<string, string>>): Promise<string> {
    return this.get(`${path}?${new URLSearchParams(parameters)}`);
  }

  async #ask(path: string): Promise<string> {
    for (let tries = 1; ; tries++) {
      try {
        return await super.get(path);
      } catch (error) {
        const isBusy = error instanceof RefusedError && error.status === TOO_MANY_REQUESTS;
        if (!isBusy || tries === TRIES_MAX) throw error;
        await pause(Math.min(Math.max(error.retryAfterMs ?? 0, WAIT_MS_MIN), WAIT_MS_MAX));
      }
    }
  }
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
