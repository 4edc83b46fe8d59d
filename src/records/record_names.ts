import type { Asset, AssetIndex, Publisher, PublisherIndex, SignatureType } from '../model/asset.js';
import { parseHex } from '../model/hex.js';

/** A publisher that signed a stored input and is no longer configured. */
export const UNKNOWN_PUBLISHER = -1 as PublisherIndex;

const KEY_BYTES: Record<SignatureType, number> = { evm: 20, stark: 32 };

/** Finds the assets and publishers of the configuration in force; records name them by symbol and key, not by index. */
export interface RecordNames {
  assetOf(symbol: string): Asset | undefined;
  symbolOf(index: AssetIndex): string | undefined;
  /** The publisher's key as hex digits. */
  keyDigitsOf(index: PublisherIndex): string | undefined;
  /** The publisher whose key this text names, or {@link UNKNOWN_PUBLISHER}. */
  publisherIndexOf(signatureType: SignatureType, keyText: string): PublisherIndex;
}

export function indexRecordNames(assets: readonly Asset[], publishers: readonly Publisher[]): RecordNames {
  const assetBySymbol = new Map(assets.map((asset) => [asset.symbol, asset]));
  const indexByKey = new Map(publishers.map((one) => [keyName(one.signatureType, one.key), one.index]));
  const symbolByIndex = new Map(assets.map((asset) => [asset.index, asset.symbol]));
  const digitsByIndex = new Map(publishers.map((one) => [one.index, one.key.toString('hex')]));
  return {
    symbolOf: (index) => symbolByIndex.get(index),
    keyDigitsOf: (index) => digitsByIndex.get(index),
    assetOf: (symbol) => assetBySymbol.get(symbol),
    publisherIndexOf(signatureType, keyText) {
      const key = parseHex(keyText, KEY_BYTES[signatureType]);
      return (key && indexByKey.get(keyName(signatureType, key))) ?? UNKNOWN_PUBLISHER;
    },
  };
}

function keyName(signatureType: SignatureType, key: Buffer): string {
  return `${signatureType}:${key.toString('hex')}`;
}
