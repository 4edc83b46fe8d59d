/**
 * The length of a backlog, in characters of payloads, that may fill the buffers between the service and the client. During a longer
 * backlog the service may leave out payloads, because a slow reader receives only the newest prices.
 */
export const LONG_BACKLOG_CHARS = 50_000;

/**
 * Detects the payloads of a connection before which other payloads were lost. The client drops outdated payloads of a backlog and
 * refuses payloads that fail their checks, and the service may leave out payloads.
 */
export class LostPayloads {
  #isAfterLoss = false;
  /** The characters of the present backlog, including dropped payloads. */
  #backlogChars = 0;
  #lastNs = 0n;
  /** The time of the service at which the last payload passed its checks, in UNIX milliseconds. */
  #passedMs = Number.NEGATIVE_INFINITY;

  /** Records that payloads were refused or dropped. @param chars the number of dropped characters */
  lost(chars = 0): void {
    this.#isAfterLoss = true;
    this.#backlogChars += chars;
  }

  /**
   * Records a payload that passed its checks. @returns true when payloads before this payload were lost
   * @param nowMs the present time of the service in UNIX milliseconds
   * @param chars the number of characters of the payload
   */
  passed(timestampNs: bigint, nowMs: number, chars: number): boolean {
    const madeMs = msOf(timestampNs);
    // The service made this payload before the last payload passed its checks, so the last payload was on its way.
    const isOfBacklog = this.#passedMs >= madeMs;
    // The service leaves out payloads only at the end of a backlog. The first payload after the omitted payloads is then younger than
    // the time between this payload and the last payload.
    const isEnd = isOfBacklog && nowMs - madeMs < msOf(timestampNs - this.#lastNs);
    const isLeftOut = isEnd && this.#backlogChars >= LONG_BACKLOG_CHARS;
    const isAfterLoss = this.#isAfterLoss || isLeftOut;
    if (!isOfBacklog && !this.#isAfterLoss) this.#backlogChars = 0;
    this.#backlogChars += chars;
    this.#isAfterLoss = false;
    this.#lastNs = timestampNs;
    this.#passedMs = nowMs;
    return isAfterLoss;
  }
}

function msOf(ns: bigint): number {
  return Number(ns / 1_000n) / 1_000;
}
