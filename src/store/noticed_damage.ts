import { DamagedRecord } from '../records/envelope.js';

/** The damage of the data folder that reads have found. The store reports the damage until the next start. */
export class NoticedDamage {
  #reason: string | undefined;

  /** The reason of the newest damage; `undefined` when no read found damage. */
  get reason(): string | undefined {
    return this.#reason;
  }

  notice(reason: string): void {
    this.#reason = reason;
  }

  /** Runs a read. Notes a damaged record that the read finds, and throws the error again. */
  noticing<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof DamagedRecord) this.notice(error.message);
      throw error;
    }
  }
}
