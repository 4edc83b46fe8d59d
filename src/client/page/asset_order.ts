import type { TaxonomyAsset } from '../prices/taxonomy.js';
import { assetKey, searchAssets } from './board.js';

/** The order of the list. `catalogue` is the service's order. */
export type SortOrder = 'catalogue' | 'symbol' | 'rising' | 'falling';

/** The group of all assets. */
export const ALL = 'all';
/** The group of the reader's favourites. */
export const FAVOURITES = 'favourites';
const GROUPS_OF_PAGE: readonly string[] = [ALL, FAVOURITES];

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
