const NONE: ReadonlyMap<string, string> = new Map();

/** Why updates of a message are refused. It takes next to no memory while none is, as in most messages. */
export class Rejections {
  #reasons: Map<string, string> | undefined;

  constructor(before: ReadonlyMap<string, string> = NONE) {
    if (before.size > 0) this.#reasons = new Map(before);
  }

  add(symbol: string, reason: string): void {
    this.#reasons ??= new Map();
    this.#reasons.set(symbol, reason);
  }

  /** Symbol to reason. */
  get reasons(): ReadonlyMap<string, string> {
    return this.#reasons ?? NONE;
  }
}
