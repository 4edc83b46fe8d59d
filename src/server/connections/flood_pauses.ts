import { type Clock, NS_PER_SECOND } from '../../model/time.js';

/** The time for which a caller may open no connection after a flood of empty frames. */
const PAUSE_NS = 10n * NS_PER_SECOND;

/**
 * The callers that may open no connection for a while. Detecting a flood takes about a second, and the flood harms other callers
 * during this second. The pause prevents an immediate repetition.
 */
export class FloodPauses {
  readonly #clock: Clock;
  /**
   * The end of the pause by the caller's identity. Identities are tokens and keys of the configuration, so the map stays small.
   */
  readonly #untilNs = new Map<string, bigint>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(identity: string): void {
    this.#untilNs.set(identity, this.#clock.nowNs() + PAUSE_NS);
  }

  /** Returns the seconds until the caller may open a connection again; 0 without a pause. */
  leftS(identity: string): number {
    const untilNs = this.#untilNs.get(identity);
    if (untilNs === undefined) return 0;
    const leftNs = untilNs - this.#clock.nowNs();
    // A longer remaining time was stored before the clock went back.
    if (leftNs > 0n && leftNs <= PAUSE_NS) return Math.ceil(Number(leftNs) / Number(NS_PER_SECOND));
    this.#untilNs.delete(identity);
    return 0;
  }
}
