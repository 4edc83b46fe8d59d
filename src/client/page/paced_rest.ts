import { isRateLimited } from '../connect/errors.js';
import { BROWSER } from '../connect/platform.js';
import { RestService } from '../connect/rest_service.js';
import { TokenSource } from '../connect/token_source.js';
import { PacedQueue } from './paced_queue.js';
import { pause } from './pause.js';

/** A token has five requests a second by default; this leaves room for the reader's other programs. */
const INTERVAL_MS = 300;
const TRIES_MAX = 4;
const WAIT_MS_MIN = 1_000;
const WAIT_MS_MAX = 30_000;

/** The REST API of this origin with the reader's token: one request after the other, and not too fast. */
export class PacedRest extends RestService {
  readonly #queue = new PacedQueue(INTERVAL_MS);

  constructor(token: string) {
    super(location.origin, BROWSER, new TokenSource(token, undefined));
  }

  override get(path: string): Promise<string> {
    return this.#queue.run(() => this.#ask(path));
  }

  /** As {@link get}, with parameters. @param name of requests of which only the newest matters */
  query(path: string, parameters: Readonly<Record<string, string>>, name?: string): Promise<string> {
    return this.#queue.run(() => this.#ask(`${path}?${new URLSearchParams(parameters)}`), name);
  }

  async #ask(path: string): Promise<string> {
    for (let tries = 1; ; tries++) {
      try {
        return await super.get(path);
      } catch (error) {
        if (!isRateLimited(error) || tries === TRIES_MAX) throw error;
        await pause(Math.min(Math.max(error.retryAfterMs ?? 0, WAIT_MS_MIN), WAIT_MS_MAX));
      }
    }
  }
}
