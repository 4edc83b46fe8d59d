import { attributeTexts } from '../../wire/attribute_facts.js';
import type { AggregateForm } from '../index.js';
import type { Quote } from './board.js';
import { pointsText } from './price_text.js';

/** The number of prices that are remembered. An aggregate is read at most this many frames after its signature, with 2 frames a second. */
const PRICES_MAX = 40;
/** The largest distance between an aggregate and a streamed price of the same time: two frames of the page's channel. */
const DISTANCE_NS = 1_000_000_000n;

type StreamedValue = Pick<Quote, 'price' | 'timestampNs'>;

/** The newest streamed prices of the chosen asset. An aggregate is compared with the price of its own time, and not with a later one. */
export class StreamedPrices {
  #prices: readonly StreamedValue[] = [];

  add({ price, timestampNs }: StreamedValue): void {
    if (this.#prices.at(-1)?.timestampNs === timestampNs) return;
    this.#prices = [...this.#prices, { price, timestampNs }].slice(-PRICES_MAX);
  }

  clear(): void {
    this.#prices = [];
  }

  /**
   * Returns the difference of the stream from an aggregate at the time of the aggregate's signature. The service signs an aggregate between
   * two frames, so the nearer one of both counts. @returns `undefined` if the stream has no price of this time
   */
  difference({ price, service }: AggregateForm): bigint | undefined {
    const differences = this.#prices
      .filter(({ timestampNs }) => sizeOf(timestampNs - service.timestampNs) <= DISTANCE_NS)
      .map((streamed) => streamed.price - price)
      .sort((a, b) => (sizeOf(a) < sizeOf(b) ? -1 : 1));
    return differences[0];
  }
}

/**
 * Writes the line under a price: `Stream = aggregate, 0.0 bp · 3 publishers within 0.9 bp · 0.4 s`. The second and third part are
 * attributes of one frame, so they belong to one time.
 * @param difference the difference of the stream from the aggregate of the same time; `undefined` before it is known
 */
export function agreementText(
  { attributes }: Pick<Quote, 'attributes'>,
  aggregate: { readonly price: bigint } | undefined,
  difference: bigint | undefined,
): string {
  const { inputAgeMs, publishers, spreadPpm } = attributes;
  const [age, count, spread] = [{ inputAgeMs }, { publishers }, { spreadPpm }].map((one) => {
    const [text = ''] = attributeTexts(one as Quote['attributes']);
    return text.replace(/^age /, '');
  });
  const within = publishers === 1 || spread === '' ? '' : ` within ${spread}`;
  const parts = [matchText(aggregate?.price, difference), count && count + within, age];
  return parts.filter((part) => part !== '' && part !== undefined).join(' · ');
}

function matchText(price: bigint | undefined, difference: bigint | undefined): string {
  if (price === undefined || difference === undefined) return '';
  const points = pointsText(difference, price);
  if (points === '') return '';
  return /^0\.0/.test(points) ? `Stream = aggregate, ${points}` : `Stream ${points} against the aggregate`;
}

function sizeOf(value: bigint): bigint {
  return value < 0n ? -value : value;
}
