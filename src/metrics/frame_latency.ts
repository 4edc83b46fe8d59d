import { type Clock, NS_PER_SECOND, type TimeNs } from '../model/time.js';
import { countDuration, type Histogram, newHistogram } from './text_format.js';

/** The number of messages that may wait for a frame. Further messages are not measured. */
const WAITING_MAX = 1_024;
/**
 * The largest measured latency: twice the longest interval. When a message waited longer, there was no connection to
 * send its prices to.
 */
const LATENCY_NS_MAX = 2n * NS_PER_SECOND;

/** The upper limits of the histogram's buckets, in seconds. One additional bucket has all longer times. */
export const LATENCY_BOUNDS_S = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1] as const;

export function newLatencyCounts(): Histogram {
  return newHistogram(LATENCY_BOUNDS_S);
}

/** Measures the time from the receipt of a publisher's message to the first frame with its prices. */
export class FrameLatency {
  /** The waiting messages, ascending by the sequence of the price table after each message. */
  readonly #waiting: { readonly sequence: number; readonly receivedNs: TimeNs }[] = [];
  #sequence = 0;
  readonly #counts: Histogram;

  /** @param counts the histogram to which measurements are added */
  constructor(counts: Histogram) {
    this.#counts = counts;
  }

  /**
   * Notes a received message.
   * @param sequence the sequence of the price table after the message. A message that changed no price has no frame
   */
  received(sequence: number, receivedNs: TimeNs): void {
    const isMeasured = sequence > this.#sequence && this.#waiting.length < WAITING_MAX;
    this.#sequence = sequence;
    if (isMeasured) this.#waiting.push({ sequence, receivedNs });
  }

  /** Notes that a frame with the prices up to this sequence was given to the sockets. */
  sent(sequence: number, clock: Clock): void {
    // The clock is read only if the frame is the first frame after a message.
    let nowNs: TimeNs | undefined;
    let told = 0;
    for (const { sequence: needed, receivedNs } of this.#waiting) {
      if (needed > sequence) break;
      told++;
      nowNs ??= clock.nowNs();
      const latencyNs = nowNs - receivedNs;
      // A latency outside this range is not counted, because the clock was stepped or no connection was open.
      if (latencyNs >= 0n && latencyNs <= LATENCY_NS_MAX)
        countDuration(this.#counts, LATENCY_BOUNDS_S, Number(latencyNs) / 1e9);
    }
    if (told > 0) this.#waiting.splice(0, told);
  }
}
