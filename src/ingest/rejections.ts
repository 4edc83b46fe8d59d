const NONE: ReadonlyMap<string, string> = new Map();

/** The reasons why updates of a message are refused. They take almost no memory while no update is refused, as in most messages. */
export class Rejections {
  #reasons: Map<string, string> | undefined;

  constructor(before: ReadonlyMap<string, string> = NONE) {
    if (before.size > 0) this.#reasons = new Map(before);
  }

  add(symbol: string, reason: string): void {
    this.#reasons ??= new Map();
    this.#reasons.set(symbol, reason);
  }

  /** Reasons by symbol. */
  get reasons(): ReadonlyMap<string, string> {
    return this.#reasons ?? NONE;
  }
}
