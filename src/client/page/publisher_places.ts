import { signedText } from './price_text.js';
import type { ProofContent } from './proof.js';

/** The place of the most distant publisher, in percent of half of the strip. */
const EDGE_PERCENT = 44n;
const MIDDLE_PERCENT = 50;
/** The smallest distance between two labels on one line. */
const LABEL_PX = 40;
/** The number of lines with labels. If a strip has more labels in one place, it shows the first labels. */
const LINES = 2;
/** The smallest scale of a strip, as a part of the price: a hundredth of a percent on each side. */
const SCALE_PARTS_MIN = 10_000n;

/** The dot of a publisher in a strip around the aggregated price. */
export interface PublisherPlace {
  readonly key: string;
  /** The distance from the left edge, in percent of the width. */
  readonly percent: number;
  /** The price compared with the aggregated price: `+0.0012%`. */
  readonly difference: string;
  readonly timestampNs: bigint;
  /** The line of the label, from 0; `undefined` where the label has no room. */
  readonly line: number | undefined;
}

/**
 * Places publishers by the differences of their prices from the aggregated price. Computes with exact integers.
 * @param widthPx the width of the strip in CSS pixels
 */
export function publisherPlaces(
  { price, publishers }: Pick<ProofContent, 'price' | 'publishers'>,
  widthPx: number,
): readonly PublisherPlace[] {
  const differences = publishers.map((publisher) => publisher.price - price);
  const widest = [...differences.map(sizeOf), sizeOf(price) / SCALE_PARTS_MIN, 1n];
  const scale = widest.reduce((a, b) => (b > a ? b : a));
  const sorted = publishers
    .map(({ key, timestampNs }, i) => ({ key, timestampNs, difference: differences[i]! }))
    .sort((a, b) => (a.difference < b.difference ? -1 : a.difference > b.difference ? 1 : 0));
  const ends = new Array<number>(LINES).fill(Number.NEGATIVE_INFINITY);
  return sorted.map(({ key, timestampNs, difference }) => {
    const percent = MIDDLE_PERCENT + Number((difference * EDGE_PERCENT * 100n) / scale) / 100;
    const free = ends.findIndex((end) => ((percent - end) / 100) * widthPx >= LABEL_PX);
    if (free !== -1) ends[free] = percent;
    return {
      key,
      percent,
      difference: differenceText(difference, price),
      timestampNs,
      line: free === -1 ? undefined : free,
    };
  });
}

/**
 * Writes a difference in percent of a price: `+0.0012%`. Cuts the percentage off after four decimals. For a price of 0 the text is
 * empty.
 */
export function differenceText(difference: bigint, price: bigint): string {
  if (price === 0n) return '';
  const parts = (difference * 1_000_000n) / sizeOf(price);
  const digits = sizeOf(parts).toString().padStart(5, '0');
  return signedText(parts, `${digits.slice(0, -4)}.${digits.slice(-4)}%`);
}

function sizeOf(value: bigint): bigint {
  return value < 0n ? -value : value;
}
