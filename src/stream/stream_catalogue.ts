import type { Asset, AssetIndex } from '../model/asset.js';

/** The assets that may be subscribed to. */
export interface StreamCatalogue {
  readonly listed: readonly Pick<Asset, 'index' | 'id'>[];
  /** By index. */
  readonly assets: readonly Pick<Asset, 'symbol'>[];
}

/** The index of each listed asset by its streaming ID. */
export function indexById({ listed }: StreamCatalogue): Map<number, AssetIndex> {
  return new Map(listed.map(({ id, index }) => [id, index]));
}
