import type {
  Asset,
  AssetIndex,
  ListedPublisher,
  PublisherIndex,
  PublisherKey,
  SignatureType,
} from './asset.js';
import { AssetMap, type AssetName } from './asset_map.js';

/**
 * The assets and publishers of the current configuration. The indexes of assets and publishers stay the same after reloads, so
 * arrays by index stay valid. An asset or publisher that a reload removed keeps its index, but only {@link placedAsset} finds
 * such an asset.
 */
export class Catalogue {
  /** The configured assets, in the order of the configuration. */
  readonly listed: readonly Asset[];
  /** The assets by index, including the assets that a reload removed. */
  readonly assets: readonly Asset[];
  /** The publishers by index, including the publishers that a reload removed. */
  readonly publishers: readonly ListedPublisher[];
  readonly #assetByName: AssetMap;
  readonly #assetById: ReadonlyMap<number, Asset>;
  readonly #placedByName: AssetMap;
  readonly #publisherByKey: ReadonlyMap<string, ListedPublisher>;

  /** @param before the catalogue that the new catalogue replaces */
  constructor(
    {
      assets,
      publishers,
    }: { readonly assets: readonly Asset[]; readonly publishers: readonly ListedPublisher[] },
    before?: Catalogue,
  ) {
    this.assets = placeByName(assets, before?.assets ?? [], assetName);
    this.publishers = placeByName(publishers, before?.publishers ?? [], publisherName);
    this.#placedByName = new AssetMap(this.assets);
    this.listed = assets.map((asset) => this.placedAsset(asset)!);
    this.#assetByName = new AssetMap(this.listed);
    this.#assetById = new Map(this.listed.map((asset) => [asset.id, asset]));
    const names = new Set(publishers.map(publisherName));
    this.#publisherByKey = new Map(
      this.publishers.map((one) => [publisherName(one), one] as const).filter(([name]) => names.has(name)),
    );
  }

  /** @param signatureType if absent, finds the symbol's EVM asset, or its Stark asset if there is no EVM asset */
  findAsset(symbol: string, signatureType?: SignatureType): Asset | undefined {
    return this.#assetByName.find(symbol, signatureType);
  }

  /** Finds an asset by its streaming ID. */
  assetById(streamingId: number): Asset | undefined {
    return this.#assetById.get(streamingId);
  }

  /**
   * Finds an asset by name, including assets that a reload removed. The price of a removed asset may not have ended yet, and the
   * service may still serve the asset's aggregate.
   */
  placedAsset({ symbol, signatureType }: AssetName): Asset | undefined {
    return this.#placedByName.find(symbol, signatureType);
  }

  /** The streaming IDs by asset index. */
  get streamingIds(): readonly number[] {
    return this.assets.map(({ id }) => id);
  }

  /** @param key the 20 bytes of an EVM address or the 32 bytes of a Stark public key. */
  publisherByKey(signatureType: SignatureType, key: Buffer): ListedPublisher | undefined {
    return this.#publisherByKey.get(publisherName({ signatureType, key }));
  }

  isListed({ symbol, signatureType }: AssetName): boolean {
    return this.#assetByName.find(symbol, signatureType) !== undefined;
  }

  /**
   * Returns the publisher with its current configuration; `undefined` when the publisher is not configured, or may not publish
   * the asset any more.
   */
  currentPublisher({ signatureType, key }: ListedPublisher, symbol: string): ListedPublisher | undefined {
    const publisher = this.publisherByKey(signatureType, key);
    return publisher && (publisher.assets.has('*') || publisher.assets.has(symbol)) ? publisher : undefined;
  }

  /** The publishers of the current configuration. */
  get currentPublishers(): readonly ListedPublisher[] {
    return [...this.#publisherByKey.values()];
  }
}

function assetName({ symbol, signatureType }: AssetName): string {
  return `${signatureType} ${symbol}`;
}

function publisherName({ signatureType, key }: PublisherKey): string {
  return `${signatureType} ${key.toString('latin1')}`;
}

/** Returns `next` with each item at the former index of its name. Items with new names follow at the end. */
function placeByName<T extends { readonly index: AssetIndex | PublisherIndex }>(
  next: readonly T[],
  before: readonly T[],
  nameOf: (item: T) => string,
): T[] {
  const placed = [...before];
  const indexByName = new Map(before.map((item) => [nameOf(item), item.index as number]));
  for (const item of next) {
    const index = indexByName.get(nameOf(item)) ?? placed.length;
    placed[index] = { ...item, index };
  }
  return placed;
}
