import type { Asset, AssetIndex, Publisher, PublisherIndex, SignatureType } from './asset.js';

/**
 * The assets and publishers of the configuration in force. Their indexes stay the same across reloads, so arrays by index
 * stay valid. An asset or publisher that a reload removed keeps its index, but the lookups no longer find it.
 */
export class Catalogue {
  /** In the order of the configuration. */
  readonly listed: readonly Asset[];
  /** By index, with those that a reload removed. */
  readonly assets: readonly Asset[];
  /** By index, with those that a reload removed. */
  readonly publishers: readonly Publisher[];
  readonly #assetBySymbol: ReadonlyMap<string, Asset>;
  readonly #publisherByKey: ReadonlyMap<string, Publisher>;

  /** @param before the catalogue that this one replaces */
  constructor(
    { assets, publishers }: { readonly assets: readonly Asset[]; readonly publishers: readonly Publisher[] },
    before?: Catalogue,
  ) {
    this.assets = placeByName(assets, before?.assets ?? [], ({ symbol }) => symbol);
    this.publishers = placeByName(publishers, before?.publishers ?? [], publisherName);
    const symbols = new Set(assets.map(({ symbol }) => symbol));
    this.#assetBySymbol = new Map(
      this.assets.filter(({ symbol }) => symbols.has(symbol)).map((asset) => [asset.symbol, asset]),
    );
    this.listed = assets.map(({ symbol }) => this.#assetBySymbol.get(symbol)!);
    const names = new Set(publishers.map(publisherName));
    this.#publisherByKey = new Map(
      this.publishers.map((one) => [publisherName(one), one] as const).filter(([name]) => names.has(name)),
    );
  }

  assetBySymbol(symbol: string): Asset | undefined {
    return this.#assetBySymbol.get(symbol);
  }

  /** @param key 20 bytes of an EVM address or 32 of a Stark public key. */
  publisherByKey(signatureType: SignatureType, key: Buffer): Publisher | undefined {
    return this.#publisherByKey.get(publisherName({ signatureType, key }));
  }

  isListed({ symbol, index }: Asset): boolean {
    return this.#assetBySymbol.get(symbol)?.index === index;
  }

  /** The publisher as it is configured now; `undefined` when it is not, or may no longer publish the asset. */
  currentPublisher({ signatureType, key }: Publisher, symbol: string): Publisher | undefined {
    const publisher = this.publisherByKey(signatureType, key);
    return publisher && (publisher.assets.has('*') || publisher.assets.has(symbol)) ? publisher : undefined;
  }

  /** The configured publishers. */
  get currentPublishers(): readonly Publisher[] {
    return [...this.#publisherByKey.values()];
  }
}

function publisherName({ signatureType, key }: Pick<Publisher, 'signatureType' | 'key'>): string {
  return `${signatureType} ${key.toString('latin1')}`;
}

/** `next` at the indexes that their names had before; new names follow at the end. */
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
