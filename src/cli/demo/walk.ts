/** A simulated market: one price that walks, and the quotes that several publishers make of it. */
export interface PriceWalk {
  /** Moves the market by one step. */
  step(): void;
  /** Returns a publisher's price times 10^18: near the market's, on the tick grid, and above 0. */
  quote(): bigint;
}

export interface WalkOptions {
  /** The price times 10^18 at which the walk starts and to which it is drawn back. */
  readonly anchor: bigint;
  /** The grid of the quotes, times 10^18. */
  readonly tick: bigint;
  /** The largest step, in millionths of the price. */
  readonly stepPpm: bigint;
  /** A uint32: the same seed gives the same walk. */
  readonly seed: number;
}

const MILLION = 1_000_000n;
/** The fraction of the distance to the anchor that a step closes, so that prices stay plausible for weeks. */
const PULL_DIVISOR = 5_000n;
/** The largest difference of publishers from the market, as a fraction of a step. */
const QUOTE_NOISE_DIVISOR = 4n;

/** Creates a random walk in exact integers, drawn back to its anchor. */
export function createWalk({ anchor, tick, stepPpm, seed }: WalkOptions): PriceWalk {
  const random = uint32Source(seed);
  let market = anchor;

  /** Returns a uniform number within -`size` .. `size`. */
  function noise(size: bigint): bigint {
    return (size * (BigInt(random()) - 2n ** 31n)) / 2n ** 31n;
  }

  return {
    step() {
      market += noise((market * stepPpm) / MILLION) + (anchor - market) / PULL_DIVISOR;
    },
    quote() {
      const price = market + noise((market * stepPpm) / MILLION / QUOTE_NOISE_DIVISOR);
      const ticks = price / tick;
      return (ticks > 0n ? ticks : 1n) * tick;
    },
  };
}

/** Returns the generator `mulberry32`: 32 bits of state, enough to move a price. */
function uint32Source(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
