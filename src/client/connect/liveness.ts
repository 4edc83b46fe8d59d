/** A function that calls `run` once after a delay in milliseconds, and returns a function that cancels the call. */
export type Schedule = (run: () => void, delayMs: number) => () => void;

/** The longest delay of the answer to a ping. After this delay the connection counts as dead. */
const ANSWER_DELAY_MS_MAX = 3_000;
/** The share of the stale time after which the client probes a silent connection. */
const QUIET_SHARE = 0.4;

/** The callbacks for a silent connection. */
export interface LivenessEvents {
  /** Called after silence for the expected time. This function sends a message that the other side answers. */
  readonly probe: () => void;
  /** Called when the other side did not answer the probe. */
  readonly onStale: (silentMs: number) => void;
}

/**
 * Detects dead connections that neither side has closed. A live connection may also be silent, so the client first sends a probe.
 * A timer checks at an interval. An arriving message only sets a flag, because a timer for each message would cost more.
 */
export class Liveness {
  readonly #schedule: Schedule;
  readonly #quietMs: number;
  readonly #answerMs: number;
  readonly #events: LivenessEvents;
  #hasReceived = false;
  #cancel: () => void = () => {};

  /**
   * @param quietMs the silence after which the connection is probed; the check notices the silence after at most twice this time
   * @param staleAfterMs the time after which the connection is stale, if given; the client then probes the connection after 2 / 5 of
   * this time
   */
  constructor(schedule: Schedule, quietMs: number, staleAfterMs: number | undefined, events: LivenessEvents) {
    this.#schedule = schedule;
    this.#quietMs = staleAfterMs === undefined ? quietMs : Math.ceil(staleAfterMs * QUIET_SHARE);
    this.#answerMs = staleAfterMs === undefined ? ANSWER_DELAY_MS_MAX : staleAfterMs - this.#quietMs;
    this.#events = events;
  }

  /** Starts the checks of an open connection. */
  start(): void {
    this.#hasReceived = false;
    this.#cancel = this.#schedule(() => this.#probeIfQuiet(), this.#quietMs);
  }

  /** Records that something arrived. */
  received(): void {
    this.#hasReceived = true;
  }

  stop(): void {
    this.#cancel();
  }

  #probeIfQuiet(): void {
    if (this.#hasReceived) {
      this.start();
      return;
    }
    this.#cancel = this.#schedule(() => this.#judgeAnswer(), this.#answerMs);
    this.#events.probe();
  }

  #judgeAnswer(): void {
    if (this.#hasReceived) this.start();
    else this.#events.onStale(this.#quietMs + this.#answerMs);
  }
}
