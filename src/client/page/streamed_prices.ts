import type { AggregateForm } from '../index.js';
import type { Quote } from './board.js';

/** The number of prices that are remembered. An aggregate is read at most this many frames after its signature, with 2 frames a second. */
const PRICES_MAX = 40;
/** The largest distance between an aggregate and a streamed price of the same time: two frames of the page's channel. */
const DISTANCE_NS = 1_000_000_000n;

type StreamedValue = Pick<Quote, 'price' | 'timestampNs'>;

/** The newest streamed prices of the chosen asset. An aggregate is compared with the price of its own time, and not with a later one. */
export class StreamedPrices {
  #prices: readonly StreamedValue[] = [];

  add({ price, timestampNs }: StreamedValue): void {
    this.#prices = [...this.#prices, { price, timestampNs }].slice(-PRICES_MAX);
  }

  clear(): void {
    this.#prices = [];
  }

  /**
   * Returns the difference of the stream from an aggregate at the time of the aggregate's signature. The service signs an aggregate between
   * two frames, so the nearer one of both counts. @returns `undefined` if the stream has no price of this time
   */
  difference({ price, service }: Pick<AggregateForm, 'price' | 'service'>): bigint | undefined {
    const differences = this.#prices
      .filter(({ timestampNs }) => sizeOf(timestampNs - service.timestampNs) <= DISTANCE_NS)
      .map((streamed) => streamed.price - price)
      .sort((a, b) => (sizeOf(a) < sizeOf(b) ? -1 : 1));
    return differences[0];
  }
}

function sizeOf(value: bigint): bigint {
  return value < 0n ? -value : value;
}
