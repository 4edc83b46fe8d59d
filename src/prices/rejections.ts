/** The reasons of a message without a refused update. */
export const NO_REASONS: ReadonlyMap<string, string> = new Map();

/**
 * The reasons why the service refuses updates of a message. Most messages have no refused update; the object then takes almost no
 * memory.
 */
export class Rejections {
  #reasons: Map<string, string> | undefined;

  constructor(before: ReadonlyMap<string, string> = NO_REASONS) {
    if (before.size > 0) this.#reasons = new Map(before);
  }

  add(symbol: string, reason: string): void {
    this.#reasons ??= new Map();
    this.#reasons.set(symbol, reason);
  }

  /** The reasons by symbol. */
  get reasons(): ReadonlyMap<string, string> {
    return this.#reasons ?? NO_REASONS;
  }
}
