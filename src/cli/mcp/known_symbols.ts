import type { TaxonomyAsset } from '../../client/prices/taxonomy.js';
import { likelySymbol } from '../../wire/asset_id.js';
import { foreignText } from '../../wire/foreign_text.js';
import type { SignatureType } from '../../wire/signatures.js';

const NEAR_MAX = 3;
/** The shortest text to search for inside symbols and names. A shorter text would match too many of them. */
const PART_CHARACTERS_MIN = 3;

/** The symbols of a request that a service has, and the other symbols, each with the reason why the service has no price. */
export interface DividedSymbols {
  readonly known: readonly string[];
  readonly unknown: ReadonlyMap<string, string>;
}

/**
 * Divides symbols by the assets that the token covers.
 * @param type the wanted signature type, if any
 */
export function divideSymbols(
  symbols: readonly string[],
  assets: readonly TaxonomyAsset[],
  type: SignatureType | undefined,
): DividedSymbols {
  const fitting = assets.filter(({ signatureType }) => type === undefined || type === signatureType);
  const names = new Set(fitting.map(({ symbol }) => symbol));
  const unknown = symbols.filter((symbol) => !names.has(symbol));
  return {
    known: symbols.filter((symbol) => names.has(symbol)),
    unknown: new Map(unknown.map((symbol) => [symbol, reasonFor(symbol, fitting, type)])),
  };
}

function reasonFor(
  symbol: string,
  assets: readonly TaxonomyAsset[],
  type: SignatureType | undefined,
): string {
  const near = nearSymbols(symbol, assets);
  const kind = type === undefined ? '' : ` with signature type ${type}`;
  const question = near.length === 0 ? '' : `; did you mean ${near.map(foreignText).join(', ')}?`;
  return `the service has no such asset for this token${kind}${question}`;
}

/**
 * Returns known symbols that resemble an unknown symbol, most likely first: a symbol with the same letters, then symbols with one
 * different character, then symbols and names that contain the text.
 */
export function nearSymbols(symbol: string, assets: readonly TaxonomyAsset[]): readonly string[] {
  const names = new Set(assets.map((asset) => asset.symbol));
  const likely = likelySymbol(symbol, (name) => names.has(name));
  const text = symbol.toUpperCase();
  const alike = assets.filter((asset) => isOneEdit(text, asset.symbol.toUpperCase()));
  const holds = ({ symbol: name, fullName = '' }: TaxonomyAsset) =>
    `${name}\n${fullName}`.toUpperCase().includes(text);
  const holding = text.length < PART_CHARACTERS_MIN ? [] : assets.filter(holds);
  const found = [...alike, ...holding].map((asset) => asset.symbol);
  return [...new Set(likely === undefined ? found : [likely, ...found])].slice(0, NEAR_MAX);
}

/** Returns whether two texts differ by one added, removed or replaced character, or by two swapped neighbours. */
function isOneEdit(one: string, other: string): boolean {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const left = one.slice(start, one.length - end);
  const right = other.slice(start, other.length - end);
  if (Math.max(left.length, right.length) <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}
