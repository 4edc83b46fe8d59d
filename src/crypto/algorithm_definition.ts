import { createHash } from 'node:crypto';
import { AGGREGATION_TYPES, type AggregationType } from '../wire/algorithms.js';

/** The version of all definitions below: the value of `calculation_alg.version`. */
export const ALGORITHM_VERSION = 'v1';

/**
 * Returns the definition of an aggregation algorithm as text, in the form that `/v1/algorithms` serves. Every signed aggregate
 * contains the checksum of this text, so any change to the text makes a new version of the algorithm.
 */
export function algorithmDefinition(type: AggregationType): string {
  return DEFINITIONS[type];
}

/** Returns `calculation_alg.checksum`: the SHA-256 of the definition's UTF-8 bytes, as 64 hex digits without `0x`. */
export function algorithmChecksum(type: AggregationType): string {
  return CHECKSUMS.get(type)!;
}

const INPUTS = `Inputs
1. A price is an integer: the real price multiplied by 10^18. All arithmetic is exact integer arithmetic.
2. Each publisher key has at most one input: its latest accepted signed price of the asset.
3. An input counts only while its publisher is allowed to publish the asset and the input's timestamp is not older
   than the asset's max_age.
4. If the asset has max_deviation_percent, let m be the median, as defined in 6, of the inputs that count under 3. An
   input p then counts only if |p - m| * 100 <= max_deviation_percent * |m|. The test is made once, for all inputs
   against the same m.
5. If fewer inputs than the asset's min_publishers count, there is no price.
6. The median of n prices in ascending order is the middle one if n is odd. If n is even it is the sum of the two
   middle ones divided by 2.
7. Every division truncates toward zero.
`;

const DEFINITIONS: Readonly<Record<AggregationType, string>> = {
  median: `median ${ALGORITHM_VERSION}

${INPUTS}
Result
The price is the median, as defined in 6, of the inputs that count.
`,
  average: `average ${ALGORITHM_VERSION}

${INPUTS}
Result
The price is the sum of the inputs that count divided by their number.
`,
  'weighted average': `weighted average ${ALGORITHM_VERSION}

${INPUTS}
Result
A publisher's weight is a positive number with at most six decimal places. The price is the sum over the inputs that
count of price * weight, divided by the sum of their weights; both sums are exact, and the one division is the last step.
`,
  'trimmed mean': `trimmed mean ${ALGORITHM_VERSION}

${INPUTS}
Result
Let n be the number of inputs that count, and k = n / 4. In ascending order of price, the first k and the last k inputs
are dropped; of equal prices it does not matter which. The price is the sum of the remaining n - 2 * k inputs divided
by their number. So with fewer than four inputs none is dropped.
`,
};

/** All definitions, for the check of a checksum. */
export const ALGORITHM_DEFINITIONS: readonly string[] = AGGREGATION_TYPES.map((type) => DEFINITIONS[type]);

const CHECKSUMS = new Map(AGGREGATION_TYPES.map((type) => [type, sha256Hex(DEFINITIONS[type])]));

function sha256Hex(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
