import type { TaxonomyAsset } from '../prices/taxonomy.js';
import type { MarketStatusName, Tick } from '../prices/tick.js';

/** A value is stale when it is older than this: ten frames of the page's channel. */
export const STALE_MS = 5_000;

/**
 * What the page says of a value. `verified`: its frame passed every check against the pinned signer. `stale`: that was too
 * long ago. `failed` and `not pinned`: the last frame did not pass, so there is no value. `waiting`: none has come yet.
 */
export type Seal = 'waiting' | 'verified' | 'stale' | 'failed' | 'not pinned';

/** A verified value. */
export interface Quote {
  readonly price: bigint;
  /** When the service made the frame. */
  readonly timestampNs: bigint;
  /** The same moment by the steady clock of this computer; see {@link Board}. */
  readonly madeMs: number;
  /** `undefined` for an asset without a schedule. */
  readonly marketStatus: MarketStatusName | undefined;
  /** Whether the price is above (1), below (-1) or equal (0) to the one before. */
  readonly direction: -1 | 0 | 1;
}

/** Why no value is shown. */
export interface Fault {
  readonly seal: 'failed' | 'not pinned';
  /** A sentence without its full stop. */
  readonly reason: string;
}

/** The name of an asset in the page's stream, which has assets of both types; it stays when streaming IDs change hands. */
export function assetKey({ symbol, signatureType }: Pick<TaxonomyAsset, 'symbol' | 'signatureType'>): string {
  return `${signatureType} ${symbol}`;
}

/**
 * The newest verified value of every asset; a frame that fails its checks takes all values away. Ages are by a steady clock,
 * whose `nowMs` counts from anywhere. The frame of a connection that came the soonest after its time says how that clock
 * stands to the service's. So a wrong clock of this computer makes nothing young or old, and a frame that is held back is old.
 */
export class Board {
  #assets: readonly TaxonomyAsset[] = [];
  /** By {@link assetKey}. */
  readonly #quotes = new Map<string, Quote>();
  #fault: Fault | undefined;
  /** The time of the newest frame that passed. */
  #newestNs = 0n;
  /** Values up to this time were taken away. */
  #blankedNs = 0n;
  /** The least that the steady clock was ahead of the time of a frame of this connection. */
  #aheadMs = Number.POSITIVE_INFINITY;

  get assets(): readonly TaxonomyAsset[] {
    return this.#assets;
  }

  /** Set from a frame that failed until one that passed. */
  get fault(): Fault | undefined {
    return this.#fault;
  }

  /** Values of assets that are gone go too. */
  setAssets(assets: readonly TaxonomyAsset[]): void {
    const keys = new Set(assets.map(assetKey));
    for (const key of this.#quotes.keys()) if (!keys.has(key)) this.#quotes.delete(key);
    this.#assets = assets;
  }

  quote(asset: TaxonomyAsset): Quote | undefined {
    return this.#quotes.get(assetKey(asset));
  }

  /** A new connection: its frames may take longer than those of the one before. */
  restart(): void {
    this.#aheadMs = Number.POSITIVE_INFINITY;
  }

  /** Notes that a frame of this time passed its checks at `nowMs`; its values follow. */
  pass(timestampNs: bigint, nowMs: number): void {
    this.#newestNs = timestampNs;
    this.#aheadMs = Math.min(this.#aheadMs, ageMs(timestampNs, nowMs));
    this.#fault = undefined;
  }

  /** Takes the value of a frame that passed, unless one that came after it did not. */
  apply({
    symbol,
    price,
    timestampNs,
    status,
  }: Pick<Tick, 'symbol' | 'price' | 'timestampNs' | 'status'>): void {
    if (timestampNs <= this.#blankedNs) return;
    const before = this.#quotes.get(symbol)?.price ?? price;
    const direction = price > before ? 1 : price < before ? -1 : 0;
    const madeMs = this.#aheadMs - ageMs(timestampNs, 0);
    this.#quotes.set(symbol, { price, timestampNs, madeMs, marketStatus: status, direction });
  }

  /** A frame did not pass. Nothing in it is known to be true, not even which assets it is about, so every value goes. */
  blank(fault: Fault): void {
    this.#fault = fault;
    this.#blankedNs = this.#newestNs;
    this.#quotes.clear();
  }

  seal(asset: TaxonomyAsset, nowMs: number): Seal {
    if (this.#fault !== undefined) return this.#fault.seal;
    const quote = this.quote(asset);
    if (quote === undefined) return 'waiting';
    return nowMs - quote.madeMs > STALE_MS ? 'stale' : 'verified';
  }
}

/** How long ago a time was by a clock, in ms; below 0 for a time ahead of it. */
export function ageMs(timestampNs: bigint, nowMs: number): number {
  return nowMs - Number(timestampNs / 1_000n) / 1_000;
}

/** The assets whose symbol contains the text, in any case, those that begin with it first. */
export function searchAssets(assets: readonly TaxonomyAsset[], text: string): readonly TaxonomyAsset[] {
  const wanted = text.trim().toUpperCase();
  if (wanted === '') return assets;
  const found = assets.filter(({ symbol }) => symbol.toUpperCase().includes(wanted));
  const begins = ({ symbol }: TaxonomyAsset) => symbol.toUpperCase().startsWith(wanted);
  return [...found.filter(begins), ...found.filter((asset) => !begins(asset))];
}
