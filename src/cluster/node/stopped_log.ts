import type { PublicLogFacts } from '../../model/node_list.js';
import type { OpenLog } from './public_log.js';
import type { PublicLogFigures } from './public_log_options.js';

/** A public log that has stopped since the start of this process. Prices are made without it, and its files are still served. */
export class StoppedLog implements OpenLog {
  readonly facts: PublicLogFacts;
  readonly endNs = 0n;
  readonly #reason: string;

  constructor(facts: PublicLogFacts, reason: string) {
    this.facts = facts;
    this.#reason = reason;
  }

  record(): void {}

  add(): void {}

  changeKey(): void {}

  follow(): void {}

  joinOthers(): void {}

  lead(): void {}

  tick(): void {}

  troubles(): readonly string[] {
    return [this.#reason];
  }

  figures(): PublicLogFigures {
    return { size: 0n, checkpointAgeMs: undefined, witnesses: 0, hasQuorum: true, isStopped: true };
  }

  async write(): Promise<void> {}

  async close(): Promise<void> {}
}
