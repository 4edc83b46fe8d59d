import type { Asset, SignatureType } from './asset.js';

/** What names an asset, in every process: a symbol may be there once in each signature type. */
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

  /** @param signatureType when left out, the EVM asset is found, or the Stark one where there is no other. */
  find(symbol: string, signatureType?: SignatureType): Asset | undefined {
    if (signatureType !== undefined) return this.#bySymbol[signatureType].get(symbol);
    return this.#bySymbol.evm.get(symbol) ?? this.#bySymbol.stark.get(symbol);
  }
}
