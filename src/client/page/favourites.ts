import type { TaxonomyAsset } from '../prices/taxonomy.js';
import { assetKey } from './board.js';
import type { PinStorage } from './pins.js';

/** The name under which the browser keeps the favourites. */
const NAME = 'tickseal.favourites';
/** The largest number of favourites that the browser keeps. */
const FAVOURITES_MAX = 500;

/** The assets that the reader has marked. This browser keeps them for every page of the origin. */
export class Favourites {
  readonly #storage: PinStorage;
  readonly #keys: Set<string>;

  constructor(storage: PinStorage) {
    this.#storage = storage;
    this.#keys = new Set(readKeys(storage.getItem(NAME)));
  }

  has(asset: TaxonomyAsset): boolean {
    return this.#keys.has(assetKey(asset));
  }

  /** Marks an asset, or removes its mark. Above {@link FAVOURITES_MAX} marks, removes the oldest mark. */
  toggle(asset: TaxonomyAsset): void {
    const key = assetKey(asset);
    if (!this.#keys.delete(key)) this.#keys.add(key);
    for (const oldest of this.#keys) if (this.#keys.size > FAVOURITES_MAX) this.#keys.delete(oldest);
    this.#storage.setItem(NAME, JSON.stringify([...this.#keys]));
  }
}

/** Reads the stored favourites. A malformed text counts as an empty list, because another program may have written it. */
function readKeys(text: string | null): readonly string[] {
  try {
    const keys: unknown = JSON.parse(text ?? '[]');
    if (!Array.isArray(keys)) return [];
    return keys.filter((key): key is string => typeof key === 'string').slice(0, FAVOURITES_MAX);
  } catch {
    return [];
  }
}
