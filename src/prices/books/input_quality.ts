import { type LivePrice, PUBLISHERS_MAX, SPREAD_PPM_MAX } from '../../model/price_with_quality.js';
import { medianPrice, type WeightedPrice } from '../../wire/algorithms.js';

const MILLION = 1_000_000n;

/**
 * Returns the quality of the inputs in `sorted[from..to)`, which are ascending by price.
 * @param to above `from`
 */
export function inputQuality(
  sorted: readonly (WeightedPrice & { readonly timestampNs: bigint })[],
  from: number,
  to: number,
): LivePrice['quality'] {
  let newestNs = sorted[from]!.timestampNs;
  for (let i = from + 1; i < to; i++) {
    const { timestampNs } = sorted[i]!;
    if (timestampNs > newestNs) newestNs = timestampNs;
  }
  return {
    newestNs,
    publishers: Math.min(to - from, PUBLISHERS_MAX),
    spreadPpm: millionths(sorted[to - 1]!.price - sorted[from]!.price, medianPrice(sorted, from, to)),
  };
}

/** Returns a distance in millionths of the absolute value of `whole`, truncated. */
function millionths(distance: bigint, whole: bigint): number {
  if (distance === 0n) return 0;
  if (whole === 0n) return SPREAD_PPM_MAX;
  const result = (distance * MILLION) / (whole < 0n ? -whole : whole);
  return result > SPREAD_PPM_MAX ? SPREAD_PPM_MAX : Number(result);
}
