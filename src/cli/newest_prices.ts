/**
 * The newest waiting line of each asset. Moved prices come first: all lines of an interval arrive together, and a moved price must
 * not wait until all of them are signed.
 */
export class NewestPrices {
  readonly #moves = new Map<string, string>();
  readonly #others = new Map<string, string>();

  /** Replaces the line of an asset. The asset keeps its place in the queue. */
  put(asset: string, line: string, isMove: boolean): void {
    if (isMove) this.#others.delete(asset);
    const isFirst = isMove || this.#moves.has(asset);
    (isFirst ? this.#moves : this.#others).set(asset, line);
  }

  delete(asset: string): void {
    this.#moves.delete(asset);
    this.#others.delete(asset);
  }

  /** Takes the next line; `undefined` when the queue is empty. */
  take(): string | undefined {
    const [first] = this.#moves.size > 0 ? this.#moves : this.#others;
    if (first === undefined) return undefined;
    this.delete(first[0]);
    return first[1];
  }
}
