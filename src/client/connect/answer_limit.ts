import type { AbortSignalLike, Platform } from './platform.js';

/** The time limit of a whole answer, and of each line of an answer that is read by lines. */
const ANSWER_MS_MAX = 10_000;

/** A missing answer, or an answer that exceeds a bound. */
export class ForeignFault extends Error {
  constructor(
    message: string,
    /** `missing`: a later attempt may succeed. The other kinds are answers that are not accepted. */
    readonly kind: 'missing' | 'redirect' | 'compressed' | 'too long',
    /** The error of the network; `undefined` for an answer that exceeds a bound. */
    readonly networkError?: Error & { readonly code?: string },
  ) {
    super(message);
  }
}

/** The time limit of an answer, and the signal that ends its request. */
export class AnswerLimit {
  readonly #platform: Pick<Platform, 'schedule'>;
  readonly #msMax: number;
  readonly #abort = new AbortController();
  readonly #ended: AbortSignalLike | undefined;
  #isLate = false;
  #cancelTimer = () => {};

  /** @param signal ends the request too */
  constructor(
    platform: Pick<Platform, 'schedule'>,
    msMax: number | undefined,
    signal: AbortSignalLike | undefined,
  ) {
    this.#platform = platform;
    this.#msMax = msMax ?? ANSWER_MS_MAX;
    this.#ended = signal;
    this.start();
    signal?.addEventListener('abort', this.stop);
    if (signal?.aborted) this.stop();
  }

  get signal(): AbortSignalLike {
    return this.#abort.signal as unknown as AbortSignalLike;
  }

  /** Starts the time again. */
  start(): void {
    this.pause();
    this.#cancelTimer = this.#platform.schedule(() => {
      this.#isLate = true;
      this.stop();
    }, this.#msMax);
  }

  pause(): void {
    this.#cancelTimer();
  }

  /** Keeps the request when the signal of its caller aborts. */
  detach(): void {
    this.#ended?.removeEventListener('abort', this.stop);
  }

  /** Ends the limit of an answer that was read. */
  end(): void {
    this.pause();
    this.detach();
  }

  /** Ends the request. */
  readonly stop = (): void => {
    this.end();
    this.#abort.abort();
  };

  /** Waits for a response, also of a `fetch` function that ignores the signal. */
  orLate<T>(response: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.signal.addEventListener('abort', () => reject(new Error('aborted')));
      response.then(resolve, reject);
    });
  }

  /** @throws ForeignFault after the time limit, for a body that arrives although its request has ended */
  requireTime(): void {
    if (this.#isLate) throw this.#lateFault();
  }

  /** Returns the error as a fault of the answer. */
  fault(error: unknown): ForeignFault {
    this.stop();
    if (error instanceof ForeignFault) return error;
    if (this.#isLate) return this.#lateFault();
    const { message, cause } = error as Error & { cause?: Error };
    return new ForeignFault(cause?.message || message, 'missing', cause ?? (error as Error));
  }

  #lateFault(): ForeignFault {
    return new ForeignFault(`no answer within ${this.#msMax} ms`, 'missing');
  }
}
