import type { Logger } from 'pino';

/** The damage of the data folder that a start and reads have found. The store reports the damage until the next start. */
export class NoticedDamage {
  readonly #logger: Pick<Logger, 'error'> | undefined;
  #reason: string | undefined;

  constructor(logger: Pick<Logger, 'error'> | undefined) {
    this.#logger = logger;
  }

  /** The reason of the newest damage; `undefined` when no damage was found. */
  get reason(): string | undefined {
    return this.#reason;
  }

  notice(reason: string): void {
    this.#reason = reason;
    this.#logger?.error(reason);
  }
}
