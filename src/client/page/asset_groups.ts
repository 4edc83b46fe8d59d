import type { TaxonomyAsset } from '../index.js';

/** The group of all assets. */
export const ALL = 'all';

/** Returns the groups: all assets, and each class of the catalogue in the order of its first asset. */
export function groupsOf(assets: readonly TaxonomyAsset[]): readonly string[] {
  return [...new Set([ALL, ...assets.flatMap(({ assetClass }) => assetClass || [])])];
}

/** Finds the assets of a group whose symbol or name contains the text, in any case. Symbols that begin with the text come first. */
export function listAssets(
  assets: readonly TaxonomyAsset[],
  group: string,
  search: string,
): readonly TaxonomyAsset[] {
  const wanted = search.trim().toUpperCase();
  const found = assets.filter(
    ({ symbol, fullName = '', assetClass }) =>
      (group === ALL || assetClass === group) && `${symbol}\n${fullName}`.toUpperCase().includes(wanted),
  );
  if (wanted === '') return found;
  const begins = ({ symbol }: TaxonomyAsset) => symbol.toUpperCase().startsWith(wanted);
  return [...found.filter(begins), ...found.filter((asset) => !begins(asset))];
}
