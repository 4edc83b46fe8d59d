/** The quality of the inputs that count for a live price. */
export interface InputQuality {
  /** The time of the newest input, in UNIX nanoseconds. */
  readonly newestNs: bigint;
  /** The number of publishers whose prices count. */
  readonly publishers: number;
  /** The difference between the highest and the lowest input, in millionths of the absolute value of the median of the inputs. */
  readonly spreadPpm: number;
}

/** The quality of an aggregate's inputs, which are the prices that publishers signed. The client counts only verified inputs. */
export interface PriceQuality {
  /** The number of publishers whose prices count. */
  readonly publishers: number;
  /**
   * The age of the newest input when the service signed, in nanoseconds; negative when a publisher's clock is ahead. Publishers sign only
   * the seconds of their times.
   */
  readonly newestInputAgeNs: bigint;
  /** The difference between the highest and the lowest input, times 10^18. */
  readonly inputSpread: bigint;
}

/** Returns the facts about the inputs of an aggregate; `undefined` without inputs. */
export function qualityOf(
  inputs: readonly { readonly price: bigint; readonly timestampNs: bigint }[],
  signedNs: bigint,
): PriceQuality | undefined {
  const [first] = inputs;
  if (first === undefined) return undefined;
  let { price: lowest, price: highest, timestampNs: newestNs } = first;
  for (const { price, timestampNs } of inputs) {
    if (price < lowest) lowest = price;
    if (price > highest) highest = price;
    if (timestampNs > newestNs) newestNs = timestampNs;
  }
  return {
    publishers: inputs.length,
    newestInputAgeNs: signedNs - newestNs,
    inputSpread: highest - lowest,
  };
}

/**
 * Writes the fields of a quality for REST and streams, without braces.
 * @param quality the facts about the aggregate's inputs
 */
export function qualityFields({ publishers, newestInputAgeNs, inputSpread }: PriceQuality): string {
  return `"publishers":${publishers},"newest_input_age_ns":${newestInputAgeNs},"input_spread":"${inputSpread}"`;
}
