import { createHash } from 'node:crypto';
import type { AssetName } from '../../model/asset_map.js';
import type { MappedAsset } from '../../wire/taxonomy_statement.js';

/** The signature type and the symbol of an asset as one text. */
export type AssetKey = string & { readonly assetKey: unique symbol };

export function assetKey({ symbol, signatureType }: AssetName): AssetKey {
  return `${signatureType} ${symbol}` as AssetKey;
}

/** The meaning of each streaming ID on one node. Two nodes with equal hashes give every ID the same meaning. */
export class IdMapping {
  /** The taxonomy ID; `undefined` when another node did not name it. */
  readonly taxonomyId: number | undefined;
  /** The assets, ascending by ID. */
  readonly assets: readonly MappedAsset[];
  /** A hash of 64 bits. */
  readonly hash: bigint;
  readonly #byId = new Map<number, AssetKey>();
  readonly #idByKey = new Map<AssetKey, number>();

  constructor(assets: readonly MappedAsset[], taxonomyId?: number) {
    this.taxonomyId = taxonomyId;
    this.assets = assets
      .map(({ id, symbol, signatureType }) => ({ id, symbol, signatureType }))
      .sort((a, b) => a.id - b.id);
    const hash = createHash('sha256');
    for (const asset of this.assets) {
      const key = assetKey(asset);
      this.#byId.set(asset.id, key);
      this.#idByKey.set(key, asset.id);
      hash.update(`${JSON.stringify([asset.id, key])}\n`);
    }
    this.hash = hash.digest().readBigUInt64BE();
  }

  keyOf(streamingId: number): AssetKey | undefined {
    return this.#byId.get(streamingId);
  }

  /** @returns the streaming ID; `undefined` for an asset that is not configured */
  idOf(key: AssetKey): number | undefined {
    return this.#idByKey.get(key);
  }
}

/** Returns the asset of a key that {@link assetKey} made. */
export function assetOf(key: AssetKey): AssetName {
  const end = key.indexOf(' ');
  return { signatureType: key.slice(0, end) as AssetName['signatureType'], symbol: key.slice(end + 1) };
}
