import { PRICE_SCALE } from '../../model/price.js';
import { type AggregationType, ALGORITHMS, type WeightedPrice } from '../../wire/algorithms.js';
import type { SignatureType } from '../../wire/signatures.js';
import { parseHexInteger } from './bytes.js';
import { parseDecimalPrice } from './decimal_price.js';
import { READER_RULES } from './reader_rules.js';

/** The part of an input from which the price is computed. */
export interface PricedInput {
  readonly key: bigint;
  readonly price: bigint;
  readonly signatureType: SignatureType;
}

/** The unit of weights. Weights have six decimal places, and prices have eighteen. */
const WEIGHT_UNIT = PRICE_SCALE / 10n ** 6n;

/**
 * Returns the price that `algorithm` computes from the publishers' prices. Each division truncates toward zero, like bigint
 * division.
 * @param weights the weight of each publisher key, for a weighted algorithm only
 * @returns the price, or a sentence with the reason if there is no price
 */
export function aggregatePrice(
  algorithm: AggregationType,
  publishers: readonly PricedInput[],
  weights: Readonly<Record<string, string>>,
): bigint | string {
  if (publishers.length === 0) return 'there are no signed_prices';
  const { isWeighted, compute } = ALGORITHMS[algorithm];
  const known = isWeighted ? readWeights(weights) : undefined;
  const sorted: WeightedPrice[] = [];
  for (const { key, price, signatureType } of publishers) {
    const weight = known === undefined ? 1n : known.get(key);
    if (weight === undefined)
      return `no weight was given for publisher ${READER_RULES[signatureType].keyText(key)}`;
    sorted.push({ price, weight });
  }
  sorted.sort((a, b) => (a.price < b.price ? -1 : a.price > b.price ? 1 : 0));
  return compute(sorted, 0, sorted.length);
}

/**
 * @throws RangeError for a key that is not hex, for a weight of 0 or less, and for a weight with more than six decimal places
 */
function readWeights(weights: Readonly<Record<string, string>>): ReadonlyMap<bigint, bigint> {
  const entries = Object.entries(weights).map(([keyText, weightText]) => {
    const key = parseHexInteger(keyText);
    const scaled = parseDecimalPrice(weightText);
    if (key === undefined) throw new RangeError(`weights: "${keyText}" is not a publisher key`);
    if (scaled === undefined || scaled <= 0n || scaled % WEIGHT_UNIT !== 0n) {
      throw new RangeError(`weights: "${weightText}" is not above 0 with at most six decimal places`);
    }
    return [key, scaled / WEIGHT_UNIT] as const;
  });
  return new Map(entries);
}
