import type { StreamClient } from '../index.js';
import type { LogView, PageLog } from './page_log.js';
import type { ProvenAggregate } from './proof.js';

/** The shortest time between two requests for a proof, and the times after an answer of each kind. */
const PAUSE_MS = 2_000;
const PAUSES_MS: Readonly<Partial<Record<LogView['kind'], number>>> = {
  none: 60_000,
  waiting: 4_000,
  logged: 10_000,
  unwitnessed: 10_000,
  missing: 20_000,
  failed: 20_000,
  unknown: 20_000,
};

export interface LogRingOptions {
  readonly client: StreamClient;
  /** Returns the newest aggregate of the shown asset. */
  readonly proven: () => ProvenAggregate | undefined;
  readonly onChange: () => void;
}

interface FollowedPrice {
  readonly request: ProvenAggregate['request'];
  readonly sinceMs: number;
}

/**
 * The seal's second ring: the public log. A checkpoint covers a price after some seconds, so this class follows one verified
 * price until the log proves it, and then follows the newest price. The proof verifier loads with the first price.
 */
export class LogRing {
  readonly #options: LogRingOptions;
  #log: PageLog | undefined;
  #price: FollowedPrice | undefined;
  #state: LogView | undefined;
  #isAsking = false;
  #nextMs = 0;
  #askedMs = 0;

  constructor(options: LogRingOptions) {
    this.#options = options;
  }

  /** Returns the state of the newest price whose state is known; `undefined` before the first answer. */
  get state(): LogView | undefined {
    return this.#state;
  }

  /** Drops the price when the page shows another asset or another time. */
  forget(): void {
    this.#price = undefined;
    this.#nextMs = Math.min(this.#nextMs, this.#askedMs + PAUSE_MS);
    this.#state = undefined;
  }

  /** Requests a proof when it is due. */
  async follow(nowMs: number): Promise<void> {
    if (document.hidden || this.#isAsking || nowMs < this.#nextMs) return;
    this.#price ??= this.#newestFollowed(nowMs);
    const price = this.#price;
    if (price === undefined) return;
    this.#isAsking = true;
    this.#askedMs = nowMs;
    this.#nextMs = nowMs + PAUSE_MS;
    const { request, sinceMs } = price;
    let state: LogView;
    try {
      this.#log ??= new (await import('./page_log.js')).PageLog(this.#options.client);
      state = await this.#log.find(request, nowMs - sinceMs);
    } catch (error) {
      const text = `the log was not checked: ${(error as Error).message}`;
      state = { kind: 'unknown', text, statement: `${text}.`, steps: [] };
    }
    this.#isAsking = false;
    if (this.#price !== price) return;
    this.#nextMs = performance.now() + (PAUSES_MS[state.kind] ?? PAUSE_MS);
    const isProven = state.kind === 'logged' || state.kind === 'unwitnessed';
    if (isProven || state.kind === 'none' || state.kind === 'missing') this.#price = undefined;
    // A proven price stays visible while the next price waits for its checkpoint.
    if (state.kind === 'waiting' && (this.#state?.steps.length ?? 0) > 0) return;
    this.#state = state;
    this.#options.onChange();
  }

  /** Returns the newest aggregate that the page has verified. */
  #newestFollowed(nowMs: number): FollowedPrice | undefined {
    const { request, proof } = this.#options.proven() ?? {};
    if (request === undefined || proof?.report.verdict !== 'verified') return undefined;
    return { request, sinceMs: nowMs };
  }
}
