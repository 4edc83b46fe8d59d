/** A simulated market: one price that walks, and the quotes that several publishers make of it. */
export interface PriceWalk {
  /** Moves the market one step. */
  step(): void;
  /** A publisher's price times 10^18: near the market's, on the tick grid, and above 0. */
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
/** A step closes this fraction of the distance to the anchor, so that a demo left alone for weeks stays plausible. */
const PULL_DIVISOR = 5_000n;
/** Publishers differ from the market by at most this fraction of a step. */
const QUOTE_NOISE_DIVISOR = 4n;

/** A random walk in exact integers, drawn back to its anchor. */
export function createWalk({ anchor, tick, stepPpm, seed }: WalkOptions): PriceWalk {
  const random = uint32Source(seed);
  let market = anchor;

  /** Uniform within -`size` .. `size`. */
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

/** The generator `mulberry32`: 32 bits of state, good enough to move a price. */
function uint32Source(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
