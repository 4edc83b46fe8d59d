import type { Numbered, VerifyReports, VerifyRequest } from './verify_messages.js';

/** The worker's address, which the build puts in. */
declare const VERIFY_WORKER_PATH: string;

/** Verifies in a worker, in the order of the calls. Callers keep few requests waiting. */
export class Verifier {
  readonly #worker = new Worker(VERIFY_WORKER_PATH, { type: 'module', name: 'verify' });
  readonly #waiting = new Map<number, { resolve: (report: never) => void; reject: (error: Error) => void }>();
  #lastNumber = 0;
  #failure: Error | undefined;

  constructor() {
    this.#worker.onmessage = ({ data }: MessageEvent<Numbered<unknown>>) => {
      this.#waiting.get(data.number)?.resolve(data.content as never);
      this.#waiting.delete(data.number);
    };
    this.#worker.onerror = ({ message }) => {
      this.#failure = new Error(`the worker that verifies has failed: ${message || 'it did not load'}`);
      for (const { reject } of this.#waiting.values()) reject(this.#failure);
      this.#waiting.clear();
    };
  }

  /** @returns rejects once the worker has failed: then nothing can be verified any more. */
  verify<K extends VerifyRequest['kind']>(
    request: Extract<VerifyRequest, { readonly kind: K }>,
  ): Promise<VerifyReports[K]> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      this.#worker.postMessage({ number, content: request } satisfies Numbered<VerifyRequest>);
    });
  }
}
