/** A request as received, and the name of its caller. */
export interface AskedText {
  /** The name of the caller; empty on an open route. */
  readonly caller: string;
  readonly path: string;
  /** The text after `?`, not decoded. */
  readonly query: string;
}

/**
 * A map by the texts of requests. It has a map for each part of the text, because joining the parts to one key takes 2 % of the time
 * of a request.
 */
export class AskedIndex<T> {
  readonly #byCaller = new Map<string, Map<string, Map<string, T>>>();

  get({ caller, path, query }: AskedText): T | undefined {
    return this.#byCaller.get(caller)?.get(path)?.get(query);
  }

  set({ caller, path, query }: AskedText, value: T): void {
    let byPath = this.#byCaller.get(caller);
    if (byPath === undefined) {
      byPath = new Map();
      this.#byCaller.set(caller, byPath);
    }
    let byQuery = byPath.get(path);
    if (byQuery === undefined) {
      byQuery = new Map();
      byPath.set(path, byQuery);
    }
    byQuery.set(query, value);
  }

  delete({ caller, path, query }: AskedText): void {
    const byPath = this.#byCaller.get(caller);
    const byQuery = byPath?.get(path);
    if (byPath === undefined || byQuery === undefined) return;
    byQuery.delete(query);
    if (byQuery.size === 0) byPath.delete(path);
    if (byPath.size === 0) this.#byCaller.delete(caller);
  }

  clear(): void {
    this.#byCaller.clear();
  }
}

/** Returns the number of characters of a request's text. */
export function lengthOf({ caller, path, query }: AskedText): number {
  return caller.length + path.length + query.length;
}
