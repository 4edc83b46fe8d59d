import type { TimeNs } from '../../src/model/time.js';

// Frames with every set of attributes, by small encoders that are independent of the service's tables.

export interface ShownAsset {
  readonly id: number;
  readonly price: bigint;
  readonly status: number;
  readonly newestNs: bigint;
  readonly publishers: number;
  readonly spreadPpm: number;
}

export const TIME_NS = 0x187f4dcc627041f8n as TimeNs;
export const TAXONOMY_ID = 7;
/** Two assets whose attributes have ordinary values, no value, and the limits of the values. */
export const ASSETS: readonly ShownAsset[] = [
  {
    id: 1,
    price: 100n * 10n ** 18n,
    status: 0xff,
    newestNs: TIME_NS - 400_999_999n,
    publishers: 3,
    spreadPpm: 90,
  },
  {
    id: 65_535,
    price: -1n,
    status: 2,
    newestNs: TIME_NS + 5_000_000n,
    publishers: 300,
    spreadPpm: 0xffff_ffff,
  },
];

const ageOf = ({ newestNs }: ShownAsset) =>
  Math.min(0xffff_ffff, Math.max(0, Number((TIME_NS - newestNs) / 1_000_000n)));
const ATTRIBUTES = [
  {
    bit: 1,
    bytes: 1,
    field: 'ms',
    property: 'marketStatus',
    none: 0xff,
    read: (a: ShownAsset) => a.status,
  },
  { bit: 2, bytes: 4, field: 'age', property: 'inputAgeMs', read: ageOf },
  {
    bit: 3,
    bytes: 1,
    field: 'n',
    property: 'publishers',
    read: (a: ShownAsset) => Math.min(255, a.publishers),
  },
  { bit: 4, bytes: 4, field: 'spr', property: 'spreadPpm', read: (a: ShownAsset) => a.spreadPpm },
];
/** Every mask. The first one has the price alone, and so the simplified layout. */
export const MASKS = Array.from({ length: 2 ** ATTRIBUTES.length }, (_, i) => (i << 1) | 1);

const hex = (value: bigint | number, bytes: number) =>
  BigInt.asUintN(8 * bytes, BigInt(value))
    .toString(16)
    .padStart(2 * bytes, '0');

/** Returns the values of an asset's attributes, with what a table of attributes says about them. */
export function valuesOf(asset: ShownAsset, mask: number) {
  return ATTRIBUTES.filter(({ bit }) => (mask & (1 << bit)) !== 0).map(({ read, ...attribute }) => ({
    ...attribute,
    value: read(asset),
  }));
}

/** Returns the hex of the body with these attributes. */
export function bodyOf(mask: number, assets = ASSETS, taxonomyId = TAXONOMY_ID): string {
  const entries = assets.map(
    (asset) =>
      hex(asset.id, 2) +
      hex(asset.price, 16) +
      valuesOf(asset, mask)
        .map(({ value, bytes }) => hex(value, bytes))
        .join(''),
  );
  const head = mask === 1 ? '' : `ff02${hex(mask, 2)}`;
  return [head, hex(taxonomyId, 2), hex(TIME_NS, 8), ...entries].join('');
}

/** Returns the unsigned frame. The timestamp is inserted as text, because it is too large for a double. */
export function unsignedFrameOf(mask: number, assets = ASSETS, taxonomyId = TAXONOMY_ID): string {
  const a = assets.map((asset) => {
    const shown = valuesOf(asset, mask).filter(({ value, none }) => value !== none);
    const fields = Object.fromEntries(shown.map(({ field, value }) => [field, value]));
    return { id: asset.id, v: String(asset.price), ...fields };
  });
  return JSON.stringify({ type: 'unsigned', tax: taxonomyId, ts: '@', a }).replace('"@"', String(TIME_NS));
}
