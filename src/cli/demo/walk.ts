import { parseDecimalPrice } from '../../client/verify/decimal_price.js';
import type { DemoAsset } from './demo_catalogue.js';

/** A simulated market: one price that moves at random, and the quotes that several publishers derive from it. */
export interface PriceWalk {
  /** Moves the market by one step. */
  step(): void;
  /**
   * Returns a publisher's price times 10^18: near the market's price, a multiple of the tick, and above 0.
   */
  quote(): bigint;
}

export interface WalkOptions {
  /** The price times 10^18 at which the walk starts and toward which each step pulls the price. */
  readonly anchor: bigint;
  /** The tick of the quotes, times 10^18. */
  readonly tick: bigint;
  /** The largest step, in millionths of the price. */
  readonly stepPpm: bigint;
  /** A uint32. The same seed gives the same walk. */
  readonly seed: number;
}

/** Creates the walk of a demo's asset. Each step is `stepFactor` times the asset's step. */
export function createAssetWalk(
  { anchor, tick, stepPpm }: DemoAsset,
  seed: number,
  stepFactor = 1n,
): PriceWalk {
  return createWalk({
    anchor: parseDecimalPrice(anchor)!,
    tick: parseDecimalPrice(tick)!,
    stepPpm: stepPpm * stepFactor,
    seed,
  });
}

const MILLION = 1_000_000n;
/**
 * The divisor for the pull toward the anchor. Each step removes this part of the distance to the anchor, so prices stay plausible
 * for weeks.
 */
const PULL_DIVISOR = 5_000n;
/** The divisor for the noise of a quote. A quote differs from the market's price by at most this part of the largest step. */
const QUOTE_NOISE_DIVISOR = 4n;

/** Creates a random walk in exact integers. Each step pulls the price toward its anchor. */
export function createWalk({ anchor, tick, stepPpm, seed }: WalkOptions): PriceWalk {
  const random = uint32Source(seed);
  let market = anchor;

  /** Returns a uniformly distributed number from -`size` to `size`. */
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

/** Returns the generator `mulberry32`. Its 32 bits of state are enough for simulated prices. */
function uint32Source(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
