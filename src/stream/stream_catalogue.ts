import type { Asset, AssetIndex } from '../model/asset.js';

/** The assets to which clients may subscribe. */
export interface StreamCatalogue {
  readonly listed: readonly Pick<Asset, 'index' | 'id'>[];
  /** The assets, by index. */
  readonly assets: readonly Pick<Asset, 'symbol'>[];
}

/** Returns the index of each listed asset by its streaming ID. */
export function indexById({ listed }: StreamCatalogue): Map<number, AssetIndex> {
  return new Map(listed.map(({ id, index }) => [id, index]));
}
