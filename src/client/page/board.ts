import type { Payload } from '../payload.js';
import type { TaxonomyAsset } from '../taxonomy.js';

/** A value is stale when no frame has carried it for this long: ten frames of the page's channel. */
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

/** The newest verified value of every asset; a frame that fails its checks takes all values away. */
export class Board {
  #assets: readonly TaxonomyAsset[] = [];
  readonly #quotes = new Map<number, Quote>();
  #fault: Fault | undefined;
  #newestNs = 0n;

  get assets(): readonly TaxonomyAsset[] {
    return this.#assets;
  }

  /** Set from a frame that failed until one that passed. */
  get fault(): Fault | undefined {
    return this.#fault;
  }

  /** The time of the newest verified frame; 0 before the first. */
  get newestNs(): bigint {
    return this.#newestNs;
  }

  setAssets(assets: readonly TaxonomyAsset[]): void {
    this.#assets = assets;
    const known = new Set(assets.map(({ id }) => id));
    for (const id of this.#quotes.keys()) if (!known.has(id)) this.#quotes.delete(id);
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
  }

  /**
   * Takes the values of a verified payload.
   * @returns why it was refused after all: on one connection times grow, and a frame that comes again is not news.
   */
  apply({ timestampNs, assets }: Pick<Payload, 'timestampNs' | 'assets'>): Fault | undefined {
    if (timestampNs <= this.#newestNs) {
      const fault = { seal: 'failed', reason: 'a frame is not newer than the one before it' } as const;
      this.blank(fault);
      return fault;
    }
    this.#newestNs = timestampNs;
    this.#fault = undefined;
    for (const { id, value, marketStatus } of assets) {
      const before = this.#quotes.get(id)?.price ?? value;
      const direction = value > before ? 1 : value < before ? -1 : 0;
      this.#quotes.set(id, {
        price: value,
        timestampNs,
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
    return ageMs(quote.timestampNs, nowMs) > STALE_MS ? 'stale' : 'verified';
  }
}

/** How long ago a time was by this computer's clock, in ms; below 0 for a time ahead of it. */
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
