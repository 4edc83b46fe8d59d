import type { TimeNs } from '../../src/model/time.js';

// Payloads with every set of attributes, by a small encoder that is independent of the service's table.

export const TIME_NS = 0x187f4dcc627041f8n as TimeNs;
export const ASSETS = [
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

/** The attributes with the value of each asset. */
const ATTRIBUTES = [
  { name: 'ms', bit: 1, bytes: 1, field: 'ms', property: 'marketStatus', values: [0xff, 2], none: 0xff },
  { name: 'age', bit: 2, bytes: 4, field: 'age', property: 'inputAgeMs', values: [400, 0] },
  { name: 'n', bit: 3, bytes: 1, field: 'n', property: 'publishers', values: [3, 255] },
  { name: 'spread', bit: 4, bytes: 4, field: 'spr', property: 'spreadPpm', values: [90, 0xffff_ffff] },
];
/** The masks with at least one attribute. */
export const MASKS = Array.from({ length: 2 ** ATTRIBUTES.length - 1 }, (_, i) => ((i + 1) << 1) | 1);

const hex = (value: bigint | number, bytes: number) =>
  BigInt.asUintN(8 * bytes, BigInt(value))
    .toString(16)
    .padStart(2 * bytes, '0');
export const attributesIn = (mask: number) => ATTRIBUTES.filter(({ bit }) => (mask & (1 << bit)) !== 0);

/** Returns the hex of the body with these attributes. */
export function bodyOf(mask: number): string {
  const entries = ASSETS.map(
    ({ id, price }, i) =>
      hex(id, 2) +
      hex(price, 16) +
      attributesIn(mask)
        .map(({ bytes, values }) => hex(values[i]!, bytes))
        .join(''),
  );
  return ['ff', '02', hex(mask, 2), hex(7, 2), hex(TIME_NS, 8), ...entries].join('');
}
