import type { SignatureType } from '../model/asset.js';
import type { AssetName } from '../model/asset_map.js';
import type { AcceptedInput } from '../records/accepted_input.js';
import { PUBLIC_KEY_BYTES } from '../wire/signatures.js';
import type { Table } from './table.js';

type StoredInputs = Pick<Table<AcceptedInput>, 'keysOnDisk' | 'get'>;

/** Of a publisher's key in the key of an input. */
const EVM_KEY_DIGITS = 2 * PUBLIC_KEY_BYTES.evm;
/** Symbols hold no spaces. */
const SEPARATOR = ' ';

/**
 * The text that stands for an asset in the keys of its records: the symbol for an EVM asset, the symbol and `stark` for a
 * Stark one.
 *
 * In folders from before a symbol could be there in both types, the records of Stark assets have the symbol alone as
 * well. They keep it: such a symbol's EVM asset gets the symbol and `evm`, so the two never share a record.
 */
export class RecordKeys {
  /** Symbols that by themselves stand for the Stark asset. */
  readonly #starkSymbols: ReadonlySet<string>;

  constructor(inputs: StoredInputs) {
    this.#starkSymbols = symbolsOfStarkAssets(inputs);
  }

  of({ symbol, signatureType }: AssetName): string {
    const ofSymbol: SignatureType = this.#starkSymbols.has(symbol) ? 'stark' : 'evm';
    return signatureType === ofSymbol ? symbol : `${symbol}${SEPARATOR}${signatureType}`;
  }
}

/** The symbol of the asset that such a text stands for. */
export function symbolOf(assetKey: string): string {
  return assetKey.split(SEPARATOR, 1)[0]!;
}

/** Whose signature an input carries, by the length of its publisher's key in hex. */
export function inputSignatureType(keyDigits: string): SignatureType {
  return keyDigits.length === EVM_KEY_DIGITS ? 'evm' : 'stark';
}

/**
 * The symbols whose records without a type are those of a Stark asset. Its inputs tell: an asset has one before it has
 * anything else, and keeps it.
 */
function symbolsOfStarkAssets(inputs: StoredInputs): ReadonlySet<string> {
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

/** Where inputs of both types are there, because the type of the asset was changed, the newest one decides. */
function isStark(symbol: string, publisherKeys: readonly string[], inputs: StoredInputs): boolean {
  const isStarkKey = (keyDigits: string) => inputSignatureType(keyDigits) === 'stark';
  if (publisherKeys.every(isStarkKey) || !publisherKeys.some(isStarkKey))
    return isStarkKey(publisherKeys[0]!);
  const timeOf = (keyDigits: string) => inputs.get([symbol, keyDigits])!.input.timestampNs;
  return isStarkKey(publisherKeys.reduce((newest, next) => (timeOf(next) > timeOf(newest) ? next : newest)));
}
