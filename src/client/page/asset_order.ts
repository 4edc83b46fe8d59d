import { parseExactJson, type TaxonomyAsset } from '../index.js';
import { assetKey } from './board.js';
import type { PinStorage } from './pins.js';

/** The order of the list. `catalogue` is the service's order. */
export type SortOrder = 'catalogue' | 'symbol' | 'rising' | 'falling';

/** The group of all assets. */
export const ALL = 'all';
/** The group of the reader's favourites. */
export const FAVOURITES = 'favourites';
const GROUPS_OF_PAGE: readonly string[] = [ALL, FAVOURITES];
/** The name under which the browser keeps the favourites. */
const NAME = 'tickseal.favourites';
/** The largest number of favourites that the browser keeps. */
const FAVOURITES_MAX = 500;

/** The reader's choice of assets and their order. */
export interface ListChoice {
  /** {@link ALL}, {@link FAVOURITES} or a class of assets. */
  readonly group: string;
  readonly order: SortOrder;
  /** The text of the search. */
  readonly search: string;
}

/** The properties of the assets by which a list is filtered and sorted. */
export interface ListFacts {
  readonly isFavourite: (asset: TaxonomyAsset) => boolean;
  /** Returns the change of the day; `undefined` if it is unknown. */
  readonly changeOf: (asset: TaxonomyAsset) => number | undefined;
}

/** Returns the groups: all assets, the favourites, and each class of the catalogue in the order of its first asset. */
export function groupsOf(assets: readonly TaxonomyAsset[]): readonly string[] {
  const classes = assets.flatMap(({ assetClass = '' }) =>
    assetClass === '' || GROUPS_OF_PAGE.includes(assetClass) ? [] : [assetClass],
  );
  return [...GROUPS_OF_PAGE, ...new Set(classes)];
}

/** Filters and sorts assets. In the order of the catalogue, a search sorts by relevance. */
export function listAssets(
  assets: readonly TaxonomyAsset[],
  { group, order, search }: ListChoice,
  facts: ListFacts,
): readonly TaxonomyAsset[] {
  const isInGroup = (asset: TaxonomyAsset) =>
    group === ALL || (group === FAVOURITES ? facts.isFavourite(asset) : asset.assetClass === group);
  const found = searchAssets(assets.filter(isInGroup), search);
  return order === 'catalogue' ? found : sortAssets(found, order, facts);
}

/** Finds the assets whose symbol or name contains the text, in any case. Assets whose symbol begins with the text come first. */
export function searchAssets(assets: readonly TaxonomyAsset[], text: string): readonly TaxonomyAsset[] {
  const wanted = text.trim().toUpperCase();
  if (wanted === '') return assets;
  const found = assets.filter(({ symbol, fullName = '' }) =>
    `${symbol}\n${fullName}`.toUpperCase().includes(wanted),
  );
  const begins = ({ symbol }: TaxonomyAsset) => symbol.toUpperCase().startsWith(wanted);
  return [...found.filter(begins), ...found.filter((asset) => !begins(asset))];
}

/** Sorts assets. An asset without a known change comes last, and assets with equal changes are sorted by symbol. */
function sortAssets(
  assets: readonly TaxonomyAsset[],
  order: Exclude<SortOrder, 'catalogue'>,
  { changeOf }: ListFacts,
): readonly TaxonomyAsset[] {
  const bySymbol = (a: TaxonomyAsset, b: TaxonomyAsset) => {
    const [first, second] = [`${a.symbol} ${a.signatureType}`, `${b.symbol} ${b.signatureType}`];
    return first < second ? -1 : first > second ? 1 : 0;
  };
  if (order === 'symbol') return [...assets].sort(bySymbol);
  const sign = order === 'rising' ? -1 : 1;
  // Each change is read once, so that it stays the same during the sort.
  const changes = new Map(assets.map((asset) => [assetKey(asset), changeOf(asset)]));
  const rankOf = (asset: TaxonomyAsset) => {
    const change = changes.get(assetKey(asset));
    return change === undefined ? Number.MAX_VALUE : sign * change;
  };
  return [...assets].sort((a, b) => rankOf(a) - rankOf(b) || bySymbol(a, b));
}

/** The assets that the reader has marked. This browser keeps them for every page of the origin. */
export class Favourites {
  readonly #storage: PinStorage;
  readonly #keys: Set<string>;

  constructor(storage: PinStorage) {
    this.#storage = storage;
    // A malformed text counts as an empty list, because another program may have written it.
    const keys = parseExactJson(storage.getItem(NAME) ?? '[]');
    const texts = Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [];
    this.#keys = new Set(texts.slice(0, FAVOURITES_MAX));
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
