import type { TaxonomyAsset, Tick } from '../index.js';

/** The age above which a value is stale: the time of ten frames of the page's channel. */
export const STALE_MS = 5_000;

/**
 * The state of a value on the page.
 * - `verified`: the frame passed every check against the pinned signer.
 * - `stale`: the last frame that passed is too old.
 * - `failed` and `not pinned`: the last frame did not pass, so there is no value.
 * - `unsigned mapping`: no pinned key has signed which asset each ID of a frame means, so there is no value.
 * - `waiting`: no frame has arrived yet.
 */
export type Seal = 'waiting' | 'verified' | 'stale' | Fault['seal'];

/** The texts next to the sign of a seal. */
export const SEAL_TEXTS: Readonly<Record<Seal, string>> = {
  waiting: 'waiting',
  verified: 'verified',
  stale: 'stale',
  failed: 'failed its check',
  'not pinned': 'signer not pinned',
  'unsigned mapping': 'unsigned mapping',
};

/** The newest verified value of an asset. */
export type Quote = Pick<Tick, 'symbol' | 'price' | 'timestampNs' | 'ageMs' | 'status' | 'attributes'>;

/** The reason for a missing value. */
export interface Fault {
  readonly seal: 'failed' | 'not pinned' | 'unsigned mapping';
  /** A sentence without its full stop. */
  readonly reason: string;
}

/**
 * Returns the key of an asset in the page's stream. The key has the signature type, because the stream has assets of both types.
 * The key stays the same when streaming IDs change.
 */
export function assetKey({ symbol, signatureType }: Pick<TaxonomyAsset, 'symbol' | 'signatureType'>): string {
  return `${signatureType} ${symbol}`;
}

/** The newest verified value of every asset. A frame that fails its checks removes all values. */
export class Board {
  #assets: readonly TaxonomyAsset[] = [];
  /** The values by {@link assetKey}. */
  readonly #quotes = new Map<string, Quote>();
  #fault: Fault | undefined;
  /** The time of the newest frame that passed. */
  #newestNs = 0n;
  /** The time up to which values were removed. */
  #blankedNs = 0n;

  get assets(): readonly TaxonomyAsset[] {
    return this.#assets;
  }

  /** Returns the fault. A fault lasts from a failed frame until the next frame that passes. */
  get fault(): Fault | undefined {
    return this.#fault;
  }

  /** Returns the time of the newest frame that passed, in UNIX ms. */
  get asOfMs(): number | undefined {
    return this.#newestNs === 0n ? undefined : Number(this.#newestNs / 1_000_000n);
  }

  /** Sets the assets, and removes the values of removed assets. */
  setAssets(assets: readonly TaxonomyAsset[]): void {
    const keys = new Set(assets.map(assetKey));
    for (const key of this.#quotes.keys()) if (!keys.has(key)) this.#quotes.delete(key);
    this.#assets = assets;
  }

  quote(asset: TaxonomyAsset): Quote | undefined {
    return this.#quotes.get(assetKey(asset));
  }

  /** Records that a frame of this time passed its checks. The values of the frame follow. */
  pass(timestampNs: bigint): void {
    this.#newestNs = timestampNs;
    this.#fault = undefined;
  }

  /** Stores the value of a frame that passed, unless a later frame failed. */
  apply(quote: Quote): void {
    if (quote.timestampNs > this.#blankedNs) this.#quotes.set(quote.symbol, quote);
  }

  /** Removes every value after a frame failed, because no part of that frame can be trusted, not even its list of assets. */
  blank(fault: Fault): void {
    this.#fault = fault;
    this.#blankedNs = this.#newestNs;
    this.#quotes.clear();
  }

  seal(asset: TaxonomyAsset): Seal {
    if (this.#fault !== undefined) return this.#fault.seal;
    const quote = this.quote(asset);
    if (quote === undefined) return 'waiting';
    return quote.ageMs > STALE_MS ? 'stale' : 'verified';
  }
}
