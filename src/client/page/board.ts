import type { TaxonomyAsset } from '../prices/taxonomy.js';
import type { Payload } from '../verify/decode_payload.js';

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
  /** The market status code; `undefined` for an asset without a schedule. */
  readonly marketStatus: number | undefined;
  /** Whether the price is above (1), below (-1) or equal (0) to the one before. */
  readonly direction: -1 | 0 | 1;
}

/** Why no value is shown. */
export interface Fault {
  readonly seal: 'failed' | 'not pinned';
  /** A sentence without its full stop. */
  readonly reason: string;
}

/** What an asset keeps when streaming IDs change hands. */
export function assetKey({ symbol, signatureType }: Pick<TaxonomyAsset, 'symbol' | 'signatureType'>): string {
  return `${signatureType} ${symbol}`;
}

/** What each streaming ID stands for, as {@link assetKey}. */
export function keysById(assets: readonly TaxonomyAsset[]): ReadonlyMap<number, string> {
  return new Map(assets.map((asset) => [asset.id, assetKey(asset)]));
}

/**
 * The newest verified value of every asset; a frame that fails its checks takes all values away. Ages are by a steady clock,
 * whose `nowMs` counts from anywhere. The frame of a connection that came the soonest after its time says how that clock
 * stands to the service's. So a wrong clock of this computer makes nothing young or old, and a frame that is held back is old.
 */
export class Board {
  #assets: readonly TaxonomyAsset[] = [];
  readonly #quotes = new Map<number, Quote>();
  #fault: Fault | undefined;
  #newestNs = 0n;
  /** The least that the steady clock was ahead of the time of a frame of this connection. */
  #aheadMs = Number.POSITIVE_INFINITY;

  get assets(): readonly TaxonomyAsset[] {
    return this.#assets;
  }

  /** Set from a frame that failed until one that passed. */
  get fault(): Fault | undefined {
    return this.#fault;
  }

  /** A value stays where its streaming ID means the asset that it meant before. */
  setAssets(assets: readonly TaxonomyAsset[]): void {
    const keys = keysById(assets);
    for (const asset of this.#assets)
      if (keys.get(asset.id) !== assetKey(asset)) this.#quotes.delete(asset.id);
    this.#assets = assets;
  }

  quote(id: number): Quote | undefined {
    return this.#quotes.get(id);
  }

  /** Streaming IDs may mean other assets: no value belongs to anybody. */
  clear(): void {
    this.#quotes.clear();
  }

  /** A new connection: its times need not follow those of the one before. */
  restart(): void {
    this.#newestNs = 0n;
    this.#aheadMs = Number.POSITIVE_INFINITY;
  }

  /**
   * Takes the values of a verified payload that came at `nowMs`.
   * @returns why it was refused after all: on one connection times grow, and a frame that comes again is not news.
   */
  apply({ timestampNs, assets }: Pick<Payload, 'timestampNs' | 'assets'>, nowMs: number): Fault | undefined {
    if (timestampNs <= this.#newestNs) {
      const fault = { seal: 'failed', reason: 'a frame is not newer than the one before it' } as const;
      this.blank(fault);
      return fault;
    }
    this.#newestNs = timestampNs;
    const aheadMs = ageMs(timestampNs, nowMs);
    this.#aheadMs = Math.min(this.#aheadMs, aheadMs);
    const madeMs = nowMs - aheadMs + this.#aheadMs;
    this.#fault = undefined;
    for (const { id, value, marketStatus } of assets) {
      const before = this.#quotes.get(id)?.price ?? value;
      const direction = value > before ? 1 : value < before ? -1 : 0;
      this.#quotes.set(id, {
        price: value,
        timestampNs,
        madeMs,
        marketStatus: marketStatus ?? undefined,
        direction,
      });
    }
    return undefined;
  }

  /** A frame did not pass. Nothing in it is known to be true, not even which assets it is about, so every value goes. */
  blank(fault: Fault): void {
    this.#fault = fault;
    this.#quotes.clear();
  }

  seal(id: number, nowMs: number): Seal {
    if (this.#fault !== undefined) return this.#fault.seal;
    const quote = this.#quotes.get(id);
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
