import { DEFAULT_SIGNATURE_TYPE, SIGNATURE_TYPES } from '../../wire/signatures.js';
import type { TaxonomyAsset } from '../index.js';
import { RESOLUTIONS } from './chart_candles.js';
import type { PinnedSigners } from './pins.js';
import { readMoment } from './price_text.js';

// The address of the page. The part after `#`, which browsers send to no server, alone has the reader's choice, so Back, Forward and
// links need no other state.

/** The names in the address, with their values. */
export type PagePlace = Readonly<
  Partial<Record<'asset' | 'signature_type' | 'resolution' | 'at' | 'compare', string | undefined>>
>;

/** The longest value: a signature type, a space and a symbol, which has at most 64 characters. */
const TEXT_MAX = Math.max(...SIGNATURE_TYPES.map(({ length }) => length)) + 1 + 64;

/** Reads `#asset=BTCUSD&resolution=15&at=…&compare=ETHUSD`. An unknown, empty or too long value counts as absent. */
export function readPlace(hash: string): PagePlace & { readonly resolution: string } {
  const parameters = new URLSearchParams(hash.slice(1));
  const text = (name: keyof PagePlace) => {
    const value = parameters.get(name) ?? '';
    return value === '' || value.length > TEXT_MAX ? undefined : value;
  };
  const resolution = text('resolution') ?? '';
  return {
    asset: text('asset'),
    signature_type: text('signature_type'),
    resolution: RESOLUTIONS.has(resolution) ? resolution : '1',
    at: text('at'),
    compare: text('compare'),
  };
}

/** Returns the part after `#` of an address with other values; `undefined` removes a value. */
export function hashWith(values: Readonly<Record<string, string | undefined>>, hash: string): string {
  const parameters = new URLSearchParams(hash.slice(1));
  for (const [name, value] of Object.entries(values))
    if (value === undefined) parameters.delete(name);
    else parameters.set(name, value);
  // A colon needs no escape after `#`, and an unescaped colon keeps a time readable.
  return `#${String(parameters).replaceAll('%3A', ':')}`;
}

/** Returns the part after `#` of the place of an asset. @param hash the part of the present place, whose unreadable time is dropped */
export function placeOf({ symbol, signatureType }: TaxonomyAsset, hash: string): string {
  const { at } = readPlace(hash);
  const type = signatureType === DEFAULT_SIGNATURE_TYPE ? undefined : signatureType;
  const values = { asset: symbol, signature_type: type, at: readMoment(at) === undefined ? undefined : at };
  return hashWith(values, hash);
}

/** Returns the part after `#` of a link to the place of an asset, with the pinned signers and without the token. */
export function sharedPlace(asset: TaxonomyAsset, pins: PinnedSigners, hash: string): string {
  const keys = SIGNATURE_TYPES.flatMap((type) => pins.get(type)?.key ?? []).map((key) => `&signer=${key}`);
  const stream = pins.get('stream')?.key;
  const own = stream === pins.get(DEFAULT_SIGNATURE_TYPE)?.key ? '' : `&stream_signer=${stream}`;
  return placeOf(asset, hash) + keys.join('') + own;
}

/** Returns the name of a compared asset in an address: `ETHUSD`, and `stark ETHUSD` for a Stark asset. */
export function compareName({ symbol, signatureType }: TaxonomyAsset): string {
  return signatureType === DEFAULT_SIGNATURE_TYPE ? symbol : `${signatureType} ${symbol}`;
}

/**
 * Finds the asset of a place: the first asset for a place without one. If no symbol is equal, a symbol that differs only in its case
 * counts.
 */
export function assetAt(assets: readonly TaxonomyAsset[], place: PagePlace): TaxonomyAsset | undefined {
  const { asset: wanted, signature_type: type = DEFAULT_SIGNATURE_TYPE } = place;
  if (wanted === undefined) return assets[0];
  const find = (isNamed: (symbol: string) => boolean) => {
    const named = assets.filter(({ symbol }) => isNamed(symbol));
    return named.find(({ signatureType }) => signatureType === type) ?? named[0];
  };
  return (
    find((symbol) => symbol === wanted) ?? find((symbol) => symbol.toUpperCase() === wanted.toUpperCase())
  );
}
