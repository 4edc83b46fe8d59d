import type { Asset, SignatureType } from './asset.js';

/** The name of an asset, which is the same in every process. A symbol can have one asset of each signature type. */
export type AssetName = Pick<Asset, 'symbol' | 'signatureType'>;

/** Assets by symbol and signature type. */
export class AssetMap {
  readonly #bySymbol: Readonly<Record<SignatureType, Map<string, Asset>>> = {
    evm: new Map(),
    stark: new Map(),
  };

  constructor(assets: Iterable<Asset>) {
    for (const asset of assets) this.#bySymbol[asset.signatureType].set(asset.symbol, asset);
  }

  /** @param signatureType if absent, finds the symbol's EVM asset, or its Stark asset if there is no EVM asset */
  find(symbol: string, signatureType?: SignatureType): Asset | undefined {
    if (signatureType !== undefined) return this.#bySymbol[signatureType].get(symbol);
    return this.#bySymbol.evm.get(symbol) ?? this.#bySymbol.stark.get(symbol);
  }
}
