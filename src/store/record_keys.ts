import type { SignatureType } from '../model/asset.js';
import type { AssetName } from '../model/asset_map.js';
import type { AcceptedInput } from '../records/accepted_input.js';
import { PUBLIC_KEY_BYTES } from '../wire/signatures.js';
import type { Key, Table } from './table.js';

type InputRange = Pick<Table<AcceptedInput>, 'keysOnDisk' | 'get'>;

/** The number of hex digits of an EVM publisher's key in the key of an input. */
const EVM_KEY_DIGITS = 2 * PUBLIC_KEY_BYTES.evm;
/** The separator before a suffix. Symbols contain no spaces. */
const SEPARATOR = ' ';

/**
 * Makes the text that names an asset in the keys of its records: `BTCUSD` for an EVM asset, `BTCUSD stark` for a Stark asset.
 *
 * In older versions a symbol had only one type, so they also wrote `BTCUSD` for Stark assets. Such records in a folder stay with the
 * Stark asset, and the EVM asset of that symbol gets the name `BTCUSD evm`. So two assets never share a record.
 */
export class RecordKeys {
  /** @param starkSymbols the symbols that name Stark assets without a suffix: {@link symbolsOfStarkAssets} */
  constructor(readonly starkSymbols: ReadonlySet<string>) {}

  of({ symbol, signatureType }: AssetName): string {
    const ofSymbol: SignatureType = this.starkSymbols.has(symbol) ? 'stark' : 'evm';
    return signatureType === ofSymbol ? symbol : `${symbol}${SEPARATOR}${signatureType}`;
  }

  ofInput(asset: AssetName, publisherKey: Buffer): Key {
    return [this.of(asset), publisherKey.toString('hex')];
  }
}

/** Returns the symbol of the asset that a key's text names. */
export function symbolOf(assetKey: string): string {
  return assetKey.split(SEPARATOR, 1)[0]!;
}

/** Returns the signature type of a publisher's key, by its length in hex. */
export function inputSignatureType(keyDigits: string): SignatureType {
  return keyDigits.length === EVM_KEY_DIGITS ? 'evm' : 'stark';
}

/**
 * Returns the symbols that name Stark assets without a suffix. The publishers' keys of the stored inputs show these symbols. Each asset
 * with records has an input, because the store writes the input first and never deletes the input.
 */
export function symbolsOfStarkAssets(inputs: InputRange): ReadonlySet<string> {
  const publisherKeys = new Map<string, string[]>();
  for (const [assetKey, keyDigits] of inputs.keysOnDisk()) {
    const symbol = String(assetKey);
    if (symbol.includes(SEPARATOR)) continue;
    const known = publisherKeys.get(symbol);
    if (known === undefined) publisherKeys.set(symbol, [String(keyDigits)]);
    else known.push(String(keyDigits));
  }
  const symbols = [...publisherKeys].filter(([symbol, keys]) => isStark(symbol, keys, inputs));
  return new Set(symbols.map(([symbol]) => symbol));
}

/** Recognises a Stark asset. An asset whose type was changed has inputs of both types, so the newest input decides. */
function isStark(symbol: string, publisherKeys: readonly string[], inputs: InputRange): boolean {
  const isStarkKey = (keyDigits: string) => inputSignatureType(keyDigits) === 'stark';
  if (publisherKeys.every(isStarkKey) || !publisherKeys.some(isStarkKey))
    return isStarkKey(publisherKeys[0]!);
  const timeOf = (keyDigits: string) => inputs.get([symbol, keyDigits])!.input.timestampNs;
  return isStarkKey(publisherKeys.reduce((newest, next) => (timeOf(next) > timeOf(newest) ? next : newest)));
}
