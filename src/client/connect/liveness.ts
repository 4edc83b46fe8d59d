/** A function that runs another one once after a delay in milliseconds. The function that it returns cancels the run. */
export type Schedule = (run: () => void, delayMs: number) => () => void;

/** The answer to a ping takes longer only where nothing arrives any more. */
const ANSWER_DELAY_MS_MAX = 3_000;
/** Of the time after which a connection is stale: how much may be silent before it is probed. */
const QUIET_SHARE = 0.4;

/** What becomes of a connection on which nothing arrives. */
export interface LivenessEvents {
  /** Nothing arrived for the expected time: sends something that the other side answers. */
  readonly probe: () => void;
  /** The probe was not answered either. */
  readonly onStale: (silentMs: number) => void;
}

/**
 * Notices that a connection is dead although nobody closed it. Prices may be silent for good reasons, so silence is probed
 * first. It looks once in a while instead of at every message: what arrives only sets a flag.
 */
export class Liveness {
  readonly #schedule: Schedule;
  readonly #quietMs: number;
  readonly #answerMs: number;
  readonly #events: LivenessEvents;
  #hasHeard = false;
  #cancel: () => void = () => {};

  /**
   * @param quietMs how long nothing may arrive before the connection is probed; noticed after up to twice this time
   * @param staleAfterMs when given: it is stale after this time, and probed after 2 / 5 of it
   */
  constructor(schedule: Schedule, quietMs: number, staleAfterMs: number | undefined, events: LivenessEvents) {
    this.#schedule = schedule;
    this.#quietMs = staleAfterMs === undefined ? quietMs : Math.ceil(staleAfterMs * QUIET_SHARE);
    this.#answerMs = staleAfterMs === undefined ? ANSWER_DELAY_MS_MAX : staleAfterMs - this.#quietMs;
    this.#events = events;
  }

  /** The connection is up. */
  start(): void {
    this.#hasHeard = false;
    this.#cancel = this.#schedule(() => this.#look(), this.#quietMs);
  }

  /** Something arrived. */
  heard(): void {
    this.#hasHeard = true;
  }

  stop(): void {
    this.#cancel();
  }

  #look(): void {
    if (this.#hasHeard) {
      this.start();
      return;
    }
    this.#cancel = this.#schedule(() => this.#judge(), this.#answerMs);
    this.#events.probe();
  }

  #judge(): void {
    if (this.#hasHeard) this.start();
    else this.#events.onStale(this.#quietMs + this.#answerMs);
  }
}
