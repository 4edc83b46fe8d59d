import type { HttpResponse } from 'uWebSockets.js';

/** The size of the short write that tests whether bytes still wait in a response. */
const PROBE_BYTES = 1;

/**
 * Writes a body of unknown size at the speed at which the client reads. At most one part waits in the response, and the next part
 * in memory.
 * @param parts made one by one; when making a part fails, the connection ends, so the client sees that the body is not complete
 */
export function writeParts(
  res: HttpResponse,
  parts: AsyncIterable<Uint8Array>,
  closeConnection: boolean,
): void {
  void new PartWriter(res).write(parts, closeConnection);
}

class PartWriter {
  readonly #res: HttpResponse;
  #isOpen = true;
  /** True while the response has waiting bytes. */
  #isFull = false;
  /** The part that waits until the response has no waiting bytes. */
  #waiting: Uint8Array | undefined;
  #onSent: (() => void) | undefined;

  constructor(res: HttpResponse) {
    this.#res = res;
    res.onAborted(() => {
      this.#isOpen = false;
      this.#onSent?.();
    });
    res.onWritable(() => this.#proceed());
  }

  async write(parts: AsyncIterable<Uint8Array>, closeConnection: boolean): Promise<void> {
    try {
      for await (const part of parts) {
        if (this.#isOpen) await this.#send(part);
        if (!this.#isOpen) return;
      }
      if (this.#isOpen) this.#res.cork(() => this.#res.end(undefined, closeConnection));
    } catch {
      if (this.#isOpen) this.#res.close();
    }
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
