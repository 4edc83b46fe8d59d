import type { Resolution } from '../../wire/rest_values.js';
import type { SignatureType } from '../../wire/signatures.js';
import type { TaxonomyAsset } from '../index.js';
import { CHART_INTERVALS } from './live_candles.js';
import type { PinnedSigners } from './pins.js';

/** The part of a link to the page after `#`. Browsers send this part to no server. */
export interface LinkFragment {
  readonly token: string | undefined;
  /** Addresses and Stark public keys, as in the link. */
  readonly signers: readonly string[];
  /**
   * The address that signs streams; `undefined` when the link names no `stream_signer`. The first EVM signer then signs the
   * streams.
   */
  readonly streamSigner: string | undefined;
}

/** Reads `#token=…&signer=0x…&stream_signer=0x…`; `signer` may appear twice, for the address and for the Stark public key. */
export function readFragment(hash: string): LinkFragment {
  const parameters = new URLSearchParams(hash.replace(/^#/, ''));
  return {
    token: parameters.get('token') || undefined,
    signers: parameters.getAll('signer'),
    streamSigner: parameters.get('stream_signer') ?? undefined,
  };
}

/** The asset that the page shows, in the form of the address: `#asset=BTCUSD&resolution=15&at=…`. */
export interface PagePlace {
  /** The symbol; `undefined` when the address names no asset. */
  readonly symbol: string | undefined;
  /** The signature type; `undefined` for the EVM asset, or for a symbol that has only a Stark asset. */
  readonly signatureType: SignatureType | undefined;
  readonly resolution: Resolution | undefined;
  /** The time that the page shows, as written in the address; `undefined` for the current time. */
  readonly at: string | undefined;
  /** The {@link compareName} of the asset that the chart compares; `undefined` for none. */
  readonly compare: string | undefined;
}

/** The longest text that an address may give for the symbol or the time. A symbol has at most 64 characters. */
const TEXT_MAX = 64;
/** The text before the symbol of a compared Stark asset. */
const STARK_PREFIX = 'stark ';

/** Returns the name of a compared asset in an address: `ETHUSD`, and `stark ETHUSD` for a Stark asset. */
export function compareName({ symbol, signatureType }: TaxonomyAsset): string {
  return signatureType === 'stark' ? STARK_PREFIX + symbol : symbol;
}

/** Reads the place from the part after `#`. An unknown or too long value counts as absent. */
export function readPlace(hash: string): PagePlace {
  const parameters = new URLSearchParams(hash.replace(/^#/, ''));
  const text = (name: string, lengthMax = TEXT_MAX) => {
    const value = parameters.get(name) ?? '';
    return value === '' || value.length > lengthMax ? undefined : value;
  };
  const resolution = text('resolution');
  return {
    symbol: text('asset'),
    signatureType: text('signature_type') === 'stark' ? 'stark' : undefined,
    resolution: CHART_INTERVALS.find((one) => one.resolution === resolution || one.alias === resolution)
      ?.resolution,
    at: text('at'),
    compare: text('compare', STARK_PREFIX.length + TEXT_MAX),
  };
}

/**
 * Writes the part of an address after `#`, which {@link readPlace} and {@link readFragment} read. The text is empty for a place without
 * an asset.
 */
export function writePlace(
  place: PagePlace,
  signers: Pick<LinkFragment, 'signers' | 'streamSigner'>,
): string {
  if (place.symbol === undefined) return '';
  const entries = [
    ['asset', place.symbol],
    ['signature_type', place.signatureType === 'stark' ? 'stark' : undefined],
    ['resolution', place.resolution],
    ['at', place.at],
    ['compare', place.compare],
    ...signers.signers.map((signer) => ['signer', signer] as const),
    ['stream_signer', signers.streamSigner],
  ] as const;
  const parameters = new URLSearchParams();
  for (const [name, value] of entries) if (value !== undefined) parameters.append(name, value);
  // A colon needs no escape after `#`, and an unescaped colon keeps a time readable.
  return `#${String(parameters).replaceAll('%3A', ':')}`;
}

/** Makes the part of a link after `#`: a place with the pinned signers, and without the token. */
export function shareFragment(place: PagePlace, pins: PinnedSigners): string {
  const [stream, evm, stark] = [pins.get('stream'), pins.get('evm'), pins.get('stark')];
  const signers = [evm, stark].flatMap((pin) => pin?.key ?? []);
  return writePlace(place, { signers, streamSigner: stream?.key === evm?.key ? undefined : stream?.key });
}

/** Finds the asset of a place. If no symbol is equal, a symbol that differs only in its case counts. */
export function assetAt(assets: readonly TaxonomyAsset[], place: PagePlace): TaxonomyAsset | undefined {
  const { symbol, signatureType } = place;
  if (symbol === undefined) return undefined;
  const find = (isNamed: (other: string) => boolean) => {
    const named = assets.filter((asset) => isNamed(asset.symbol));
    return named.find((asset) => asset.signatureType === (signatureType ?? 'evm')) ?? named[0];
  };
  return find((other) => other === symbol) ?? find((other) => other.toUpperCase() === symbol.toUpperCase());
}
