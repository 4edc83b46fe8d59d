import { REST_PATHS } from '../../wire/paths.js';
import type { TaxonomyAsset } from '../index.js';
import { type DayPrices, readBasePrices } from './answers.js';
import { doubleOf } from './price_text.js';
import { Readings } from './readings.js';

/** The largest number of symbols that the service accepts in one request. */
const SYMBOLS_MAX = 100;
const DAY_MS = 86_400_000;

/** The prices of an asset, and the UTC day of their request. */
interface DayBase extends DayPrices {
  readonly day: number;
}

/**
 * The prices from which changes are computed. A base is the last close before today, so each base is read once a day. A base of
 * yesterday is not used today.
 */
export class BasePrices extends Readings<DayBase> {
  readonly #today: () => number;

  /**
   * @param get returns the answer of a path of the service
   * @param nowMs returns the service's time in UNIX ms
   */
  constructor(get: (path: string) => Promise<string>, nowMs: () => number) {
    const today = () => Math.floor(nowMs() / DAY_MS);
    super({
      assetsMax: SYMBOLS_MAX,
      keptMax: Number.POSITIVE_INFINITY,
      nowMs,
      dueMs: (askedMs) => (Math.floor(askedMs / DAY_MS) + 1) * DAY_MS,
      async read(assets, type) {
        const day = today();
        const symbols = assets.map(({ symbol }) => symbol).join();
        const query = new URLSearchParams({ symbols, signature_type: type });
        const found = readBasePrices(await get(`${REST_PATHS.udfQuotes}?${query}`));
        return new Map([...found].map(([symbol, prices]) => [symbol, { ...prices, day }]));
      },
    });
    this.#today = today;
  }

  /** Returns the change of a price against its base. */
  change(asset: TaxonomyAsset, price: bigint): number | undefined {
    return this.#relativeChange(asset, doubleOf(price));
  }

  /** Returns the change of the last price that came with the base. That price is unsigned, so it is used only for sorting. */
  lastChange(asset: TaxonomyAsset): number | undefined {
    return this.#relativeChange(asset, this.get(asset)?.last);
  }

  #relativeChange(asset: TaxonomyAsset, price: number | undefined): number | undefined {
    const prices = this.get(asset);
    if (prices?.day !== this.#today() || price === undefined) return undefined;
    return (price - prices.base) / Math.abs(prices.base);
  }
}
