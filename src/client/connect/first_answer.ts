import { ProtocolError, UnreachableError } from './errors.js';
import type { Platform } from './platform.js';
import type { RestService } from './rest_service.js';

/** The time for which the client tries a service last, after the service did not answer. */
const AVOID_MS = 30_000;
/** The time after which the client also asks the next service, if a service has not answered. */
const HEDGE_DELAY_MS = 1_000;

/** Sends the same request to several services and returns the first answer. The class remembers services that did not answer. */
export class FirstAnswer {
  readonly #services: readonly RestService[];
  readonly #platform: Platform;
  /**
   * The last failure of each service, in UNIX milliseconds. A missing answer is a failure. An answer is also a failure if it arrived
   * after the answer of a service that the client asked later.
   */
  readonly #failedAtMs = new Map<RestService, number>();

  constructor(services: readonly RestService[], platform: Platform) {
    this.#services = services;
    this.#platform = platform;
  }

  /**
   * Asks the next service if a service cannot be reached, takes long, or sends an answer that this client cannot accept. A refusal is an
   * answer too. The first answer ends the other requests.
   * @param request must only read, because several services may handle the request
   * @throws the error of `request` for the answering service, or the last error when no service answers
   */
  ask<T>(request: (service: RestService) => Promise<T>): Promise<T> {
    const left = this.#inOrder();
    /** The services that were asked and have not answered, in the order in which they were asked. */
    const asked = new Set<RestService>();
    const end = new AbortController();
    let cancelHedge = () => {};
    return new Promise<T>((resolve, reject) => {
      const askNext = (): void => {
        cancelHedge();
        const service = left.shift();
        if (service === undefined) return;
        asked.add(service);
        if (left.length > 0) cancelHedge = this.#platform.schedule(askNext, HEDGE_DELAY_MS);
        const answer = (async () => request(service.until(end.signal)))();
        answer.then(
          (value) => settle(service, () => resolve(value)),
          (error) => failed(service, error),
        );
      };
      const settle = (service: RestService, tell: () => void): void => {
        if (end.signal.aborted) return;
        end.abort();
        cancelHedge();
        this.#recordAnswer(service, asked);
        tell();
      };
      const failed = (service: RestService, error: unknown): void => {
        const isNoAnswer = error instanceof UnreachableError || error instanceof ProtocolError;
        if (!isNoAnswer) settle(service, () => reject(error));
        if (end.signal.aborted) return;
        asked.delete(service);
        this.#failedAtMs.set(service, this.#platform.nowMs());
        if (left.length + asked.size === 0) reject(error);
        else askNext();
      };
      askNext();
    });
  }

  /** Orders the services. Services that failed recently come last, and the latest failure is at the end. */
  #inOrder(): RestService[] {
    const sinceMs = this.#platform.nowMs() - AVOID_MS;
    const failedAtMs = (service: RestService) => {
      const atMs = this.#failedAtMs.get(service) ?? 0;
      return atMs > sinceMs ? atMs : 0;
    };
    return [...this.#services].sort((one, other) => failedAtMs(one) - failedAtMs(other));
  }

  /** Records that a service answered. The services that the client asked before this service are slow. */
  #recordAnswer(service: RestService, asked: Iterable<RestService>): void {
    this.#failedAtMs.delete(service);
    for (const slow of asked) {
      if (slow === service) return;
      this.#failedAtMs.set(slow, this.#platform.nowMs());
    }
  }
}
