import { type Clock, NS_PER_SECOND, type TimeNs } from '../model/time.js';
import { countDuration, type Histogram, newHistogram } from './text_format.js';

/** The number of messages that may wait for a frame. The class does not measure further messages. */
const WAITING_MAX = 1_024;
/** The largest measured latency: twice the longest interval. If a message waits longer, no connection needed its prices. */
const LATENCY_NS_MAX = 2n * NS_PER_SECOND;

/** The upper limits of the histogram's buckets, in seconds. One additional bucket counts all longer times. */
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

  /** @param counts the histogram that receives the measurements */
  constructor(counts: Histogram) {
    this.#counts = counts;
  }

  /**
   * Records a received message.
   * @param sequence the sequence of the price table after the message; a message that changed no price has no frame
   */
  received(sequence: number, receivedNs: TimeNs): void {
    const isMeasured = sequence > this.#sequence && this.#waiting.length < WAITING_MAX;
    this.#sequence = sequence;
    if (isMeasured) this.#waiting.push({ sequence, receivedNs });
  }

  /** Records that the sockets received a frame with the prices up to this sequence. */
  sent(sequence: number, clock: Clock): void {
    // The method reads the clock only if the frame is the first frame after a message.
    let nowNs: TimeNs | undefined;
    let told = 0;
    for (const { sequence: needed, receivedNs } of this.#waiting) {
      if (needed > sequence) break;
      told++;
      nowNs ??= clock.nowNs();
      const latencyNs = nowNs - receivedNs;
      // The histogram omits a latency outside this range: either the clock was stepped, or no connection was open.
      if (latencyNs >= 0n && latencyNs <= LATENCY_NS_MAX)
        countDuration(this.#counts, LATENCY_BOUNDS_S, Number(latencyNs) / 1e9);
    }
    if (told > 0) this.#waiting.splice(0, told);
  }
}
