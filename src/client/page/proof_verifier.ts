import { PROOF_WORKER_NAME, type Proof, type ProofRequest } from './proof.js';

/**
 * Verifies aggregates in a worker, one after the other. A verification takes tens of milliseconds, longer than an animation frame
 * of 16 ms.
 */
export class ProofVerifier {
  readonly #url: string;
  #worker: Worker | undefined;
  /** Resolves when the last verification ends, even if that verification fails. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param url the address of the worker's module */
  constructor(url: string) {
    this.#url = url;
  }

  /** Verifies an aggregate. Rejects when the worker fails; the next call starts another worker. */
  verify(request: ProofRequest): Promise<Proof | undefined> {
    const verified = this.#last.then(() => this.#ask(request));
    this.#last = verified.catch(() => undefined);
    return verified;
  }

  #ask(request: ProofRequest): Promise<Proof | undefined> {
    this.#worker ??= new Worker(this.#url, { type: 'module', name: PROOF_WORKER_NAME });
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<Proof | undefined | 'ready'>) => {
        if (data !== 'ready') resolve(data);
      };
      worker.onerror = ({ message }) => {
        worker.terminate();
        this.#worker = undefined;
        reject(new Error(`the worker that verifies has failed: ${message || 'it did not load'}`));
      };
      worker.postMessage(request);
    });
  }
}
