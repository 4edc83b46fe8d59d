import type { HttpResponse } from 'uWebSockets.js';

/** The size of the short write that tests whether bytes still wait in a response. */
const PROBE_BYTES = 1;

/** An answer whose body is made in parts. */
export interface PartedAnswer {
  /** Writes the status and the headers. Called with the first part, or at the end of an empty body. */
  readonly begin: () => void;
  readonly parts: AsyncIterable<Uint8Array>;
  readonly closeConnection: boolean;
  /** Writes the answer to a request whose first part cannot be made. */
  readonly fail: () => void;
}

/**
 * Writes a body of unknown size at the speed at which the client reads. At most one part waits in the response, and the next part
 * in memory. When making a later part fails, the connection ends, so the client sees that the body is not complete. A head alone would not
 * show that: some clients take it for an empty body.
 */
export function writeParts(res: HttpResponse, answer: PartedAnswer): void {
  void new PartWriter(res, answer).write();
}

class PartWriter {
  readonly #res: HttpResponse;
  readonly #answer: PartedAnswer;
  #isOpen = true;
  #hasBegun = false;
  /** True while the response has waiting bytes. */
  #isFull = false;
  /** The part that waits until the response has no waiting bytes. */
  #waiting: Uint8Array | undefined;
  #onSent: (() => void) | undefined;

  constructor(res: HttpResponse, answer: PartedAnswer) {
    this.#res = res;
    this.#answer = answer;
    res.onAborted(() => {
      this.#isOpen = false;
      this.#onSent?.();
    });
    res.onWritable(() => this.#proceed());
  }

  async write(): Promise<void> {
    const { parts, closeConnection, fail } = this.#answer;
    try {
      for await (const part of parts) {
        if (this.#isOpen) await this.#send(part);
        if (!this.#isOpen) return;
      }
      if (!this.#isOpen) return;
      this.#res.cork(() => {
        this.#begin();
        this.#res.end(undefined, closeConnection);
      });
    } catch {
      if (!this.#isOpen) return;
      if (this.#hasBegun) this.#res.close();
      else this.#res.cork(fail);
    }
  }

  #begin(): void {
    if (!this.#hasBegun) this.#answer.begin();
    this.#hasBegun = true;
  }

  #send(part: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#onSent = resolve;
      this.#waiting = part;
      this.#proceed();
    });
  }

  /**
   * Writes the waiting part when the response has no waiting bytes. uWebSockets.js reports this state only during a write, so the part
   * begins with a short write.
   * @returns false when bytes still wait
   */
  #proceed(): boolean {
    if (!this.#isOpen || this.#waiting === undefined) return true;
    this.#res.cork(() => {
      this.#begin();
      let part = this.#waiting!;
      if (this.#isFull && part.length > PROBE_BYTES) {
        this.#isFull = !this.#res.write(part.subarray(0, PROBE_BYTES));
        part = part.subarray(PROBE_BYTES);
        this.#waiting = part;
        if (this.#isFull) return;
      }
      this.#waiting = undefined;
      this.#isFull = !this.#res.write(part);
    });
    if (this.#waiting === undefined) this.#onSent?.();
    return !this.#isFull;
  }
}
