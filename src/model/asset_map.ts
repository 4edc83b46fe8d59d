import { bySignatureType, SIGNATURE_TYPES } from '../wire/signatures.js';
import type { Asset, SignatureType } from './asset.js';

/** The name of an asset, which is the same in every process. A symbol can have one asset of each signature type. */
export type AssetName = Pick<Asset, 'symbol' | 'signatureType'>;

/** Assets by symbol and signature type. */
export class AssetMap {
  readonly #bySymbol: Readonly<Record<SignatureType, Map<string, Asset>>> = bySignatureType(() => new Map());

  constructor(assets: Iterable<Asset>) {
    for (const asset of assets) this.#bySymbol[asset.signatureType].set(asset.symbol, asset);
  }

  /** @param signatureType if absent, finds the symbol's asset of the first type in the table of types: the EVM asset before the Stark asset */
  find(symbol: string, signatureType?: SignatureType): Asset | undefined {
    if (signatureType !== undefined) return this.#bySymbol[signatureType].get(symbol);
    for (const type of SIGNATURE_TYPES) {
      const asset = this.#bySymbol[type].get(symbol);
      if (asset !== undefined) return asset;
    }
    return undefined;
  }
}
