/// <reference lib="esnext.disposable" preserve="true" />
import type { AbortSignalLike } from '../connect/platform.js';

/** The end and the waiting reader of an endless stream, for `for await`. A subclass holds the values and their source. */
export abstract class PulledStream<Value> implements AsyncIterableIterator<Value> {
  #signal: AbortSignalLike | undefined;
  #failure: { readonly error: unknown } | undefined;
  #closing: Promise<void> | undefined;
  #wake: () => void = () => {};
  #news: Promise<void> | undefined;

  abstract next(): Promise<IteratorResult<Value, undefined>>;

  /** Ends the stream. A `for await` loop calls this method when the reader leaves the loop. */
  async return(): Promise<IteratorResult<Value, undefined>> {
    await this.close();
    return { done: true, value: undefined };
  }

  /** Returns the stream itself, for `for await`. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Ends the stream at the end of an `await using` block, like `close`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Ends the stream, and resolves when its connections are closed. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Drops the unread values, and closes the connections. */
  protected abstract release(): Promise<unknown>;

  protected get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** Ends the stream when the signal aborts. A subclass calls this when all of its parts are open. */
  protected endWith(signal: AbortSignalLike | undefined): void {
    this.#signal = signal;
    if (signal?.aborted) this.#abort();
    else signal?.addEventListener('abort', this.#abort);
  }

  /** Ends the stream with an error for its reader. */
  protected fail(error: unknown): void {
    this.#failure ??= { error };
    void this.close();
  }

  /** Wakes the reader. */
  protected tell(): void {
    this.#news = undefined;
    this.#wake();
  }

  /**
   * Waits for a change, when there is no unread value.
   * @returns true if the stream has ended
   * @throws the error of {@link fail}
   */
  protected async isOver(): Promise<boolean> {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.isClosed) return true;
    this.#news ??= new Promise((resolve) => {
      this.#wake = resolve;
    });
    await this.#news;
    return false;
  }

  async #close(): Promise<void> {
    this.#signal?.removeEventListener('abort', this.#abort);
    const released = this.release();
    this.tell();
    await released;
  }

  readonly #abort = () => void this.close();
}
