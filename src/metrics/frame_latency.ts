import { Histogram } from 'prom-client';
import { type Clock, NS_PER_SECOND, type TimeNs } from '../model/time.js';

/** How many messages may wait for a frame. Further ones are not measured. */
const WAITING_MAX = 1_024;
/** Twice the longest interval. A message that waited longer had no connection to stream to. */
const LATENCY_NS_MAX = 2n * NS_PER_SECOND;

/** Measures the time from the receipt of a publisher's message to the first frame with its prices. */
export class FrameLatency {
  /** Ascending by the table's price sequence after the message. */
  readonly #waiting: { readonly sequence: number; readonly receivedNs: TimeNs }[] = [];
  #sequence = 0;
  readonly histogram = new Histogram({
    name: 'tickseal_publish_to_frame_seconds',
    help: 'From the receipt of a message with a changed price to the first frame that is handed to sockets afterwards.',
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1],
    registers: [],
  });

  /** @param sequence of the price table after the message. A message that changed no price has no frame */
  received(sequence: number, receivedNs: TimeNs): void {
    const isMeasured = sequence > this.#sequence && this.#waiting.length < WAITING_MAX;
    this.#sequence = sequence;
    if (isMeasured) this.#waiting.push({ sequence, receivedNs });
  }

  /** A frame with the prices up to this sequence was handed to the sockets. */
  sent(sequence: number, clock: Clock): void {
    // The clock is read only for the first frame after a message.
    let nowNs: TimeNs | undefined;
    let told = 0;
    for (const { sequence: needed, receivedNs } of this.#waiting) {
      if (needed > sequence) break;
      told++;
      nowNs ??= clock.nowNs();
      const latencyNs = nowNs - receivedNs;
      // When the clock was stepped back, there is no measurement.
      if (latencyNs >= 0n && latencyNs <= LATENCY_NS_MAX) this.histogram.observe(Number(latencyNs) / 1e9);
    }
    if (told > 0) this.#waiting.splice(0, told);
  }
}
