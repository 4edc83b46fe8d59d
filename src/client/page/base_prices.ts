import { REST_PATHS } from '../../wire/paths.js';
import type { SignatureType } from '../../wire/signatures.js';
import type { TaxonomyAsset } from '../prices/taxonomy.js';
import { type DayPrices, readBasePrices } from './answers.js';
import { assetKey } from './board.js';

/** The largest number of symbols that the service accepts in one request. */
const SYMBOLS_MAX = 100;
const DAY_MS = 86_400_000;
const RETRY_MS = 10_000;
const SCALE = 1e18;

export interface BasePricesOptions {
  /** Returns the answer of a path of the service. */
  readonly get: (path: string) => Promise<string>;
  /** Returns the service's time in UNIX ms. */
  readonly nowMs: () => number;
}

/**
 * The prices from which changes are computed. A base is the last close before today. The page reads the bases of the visible
 * assets.
 */
export class BasePrices {
  readonly #options: BasePricesOptions;
  /**
   * The base of each asset. A base is `undefined` while it is being read, and for an asset that has no base. Each day has its
   * own map, so a late answer is never stored under the next day.
   */
  #bases = new Map<string, DayPrices | undefined>();
  #day = 0;

  constructor(options: BasePricesOptions) {
    this.#options = options;
  }

  /** Reads the unknown bases of these assets. Repeated calls read each base once a day, and try a failed read again after 10 s. */
  async read(assets: readonly TaxonomyAsset[]): Promise<void> {
    const today = Math.floor(this.#options.nowMs() / DAY_MS);
    if (today !== this.#day) this.#bases = new Map();
    this.#day = today;
    const bases = this.#bases;
    const unknown = assets.filter((asset) => !bases.has(assetKey(asset)));
    for (const asset of unknown) bases.set(assetKey(asset), undefined);
    await this.#readAll(unknown);
  }

  /** Reads the bases and the last prices of these assets, even if the page already knows them. */
  refresh(assets: readonly TaxonomyAsset[]): Promise<void> {
    return this.#readAll(assets);
  }

  async #readAll(assets: readonly TaxonomyAsset[]): Promise<void> {
    const bases = this.#bases;
    for (const type of ['evm', 'stark'] as const) {
      const ofType = assets.filter(({ signatureType }) => signatureType === type);
      for (let i = 0; i < ofType.length; i += SYMBOLS_MAX)
        await this.#readSome(ofType.slice(i, i + SYMBOLS_MAX), type, bases);
    }
  }

  /** Returns the change of a price against its base. */
  change(asset: TaxonomyAsset, price: bigint): number | undefined {
    return relativeChange(this.#bases.get(assetKey(asset)), Number(price) / SCALE);
  }

  /** Returns the change of the last price that came with the base. That price is unsigned, so it is used only for sorting. */
  lastChange(asset: TaxonomyAsset): number | undefined {
    const prices = this.#bases.get(assetKey(asset));
    return relativeChange(prices, prices?.last);
  }

  async #readSome(
    assets: readonly TaxonomyAsset[],
    type: SignatureType,
    bases: Map<string, DayPrices | undefined>,
  ): Promise<void> {
    try {
      const symbols = assets.map(({ symbol }) => symbol).join();
      const query = new URLSearchParams({ symbols, signature_type: type });
      const found = readBasePrices(await this.#options.get(`${REST_PATHS.udfQuotes}?${query}`));
      for (const asset of assets) bases.set(assetKey(asset), found.get(asset.symbol));
    } catch {
      // An asset without its base has no change. After this time, the page reads the base again.
      setTimeout(() => {
        for (const asset of assets) bases.delete(assetKey(asset));
      }, RETRY_MS);
    }
  }
}

function relativeChange(prices: DayPrices | undefined, price: number | undefined): number | undefined {
  if (prices === undefined || price === undefined) return undefined;
  return (price - prices.base) / Math.abs(prices.base);
}
