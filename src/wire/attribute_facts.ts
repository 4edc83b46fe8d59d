import { MARKET_STATUS_NAMES, type MarketStatus } from './market_status_codes.js';
import type { InputQuality } from './price_quality.js';
import {
  type AttributeName,
  type AttributeValues,
  MASK_PRICE,
  STREAM_ATTRIBUTES,
  type StreamAttribute,
} from './stream_attributes.js';

/** The facts about an asset at the time of a frame. The service reads the values of attributes from these facts. */
export interface AttributeFacts {
  /** The time of the frame, in UNIX nanoseconds. */
  readonly timestampNs: bigint;
  /** The market status code, or `NO_SCHEDULE`. */
  readonly marketStatus: number;
  /** The quality of the inputs that count for the price. */
  readonly quality: InputQuality;
}

/** The value of an attribute: how the service computes it, and how documents and programs show it. */
export interface AttributeMeaning {
  /** The documents' text, in CommonMark. */
  readonly rule: string;
  readonly read: (facts: AttributeFacts) => number;
  /** Returns the text that programs show. `null` is the value of an asset that lacks the fact. */
  readonly textOf: (value: number | null) => string;
}

export const ATTRIBUTE_MEANINGS: Readonly<Record<StreamAttribute['name'], AttributeMeaning>> = {
  ms: {
    rule: 'Market status at the time of the frame',
    read: ({ marketStatus }) => marketStatus,
    textOf: (code) => (code === null ? 'no market hours' : marketText(code)),
  },
  age: {
    rule: 'Milliseconds from the time of the newest input that counts for the price to the time of the frame, truncated; 0 if the input is ahead, at most 2^32 − 1',
    read: ({ timestampNs, quality }) => boundedNumber((timestampNs - quality.newestNs) / NS_PER_MS),
    textOf: (ageMs) => `age ${((ageMs ?? 0) / 1_000).toFixed(1)} s`,
  },
  n: {
    rule: 'Number of publishers whose prices count; 255 stands for 255 or more',
    read: ({ quality }) => Math.min(quality.publishers, UINT8_MAX),
    textOf: (count) =>
      `${count}${count === UINT8_MAX ? ' or more' : ''} ${count === 1 ? 'publisher' : 'publishers'}`,
  },
  spread: {
    rule: 'Difference between the highest and the lowest input, in millionths of the absolute value of the median of the inputs, truncated; at most 2^32 − 1',
    read: ({ quality }) => quality.spreadPpm,
    textOf: (ppm) => `${((ppm ?? 0) / 100).toFixed(1)} bp${ppm === UINT32_MAX ? ' or more' : ''}`,
  },
};

const NS_PER_MS = 1_000_000n;
const UINT8_MAX = 0xff;
const UINT32_MAX = 0xffff_ffff;

/** Returns the nearest unsigned integer of 32 bits. */
function boundedNumber(value: bigint): number {
  if (value < 0n) return 0;
  return value > UINT32_MAX ? UINT32_MAX : Number(value);
}

function marketText(code: number): string {
  return MARKET_STATUS_NAMES[code as MarketStatus] ?? `market status ${code}`;
}

/** The name in `addtl_attrs` that requests all attributes about the inputs of a price. */
export const QUALITY_NAME = 'quality';
export const QUALITY_ATTRIBUTES: readonly AttributeName[] = ['age', 'n', 'spread'];

/** The names that `addtl_attrs` accepts. */
export const ATTRIBUTE_NAMES: readonly string[] = [
  ...STREAM_ATTRIBUTES.map(({ name }) => name),
  QUALITY_NAME,
];

/** Returns the mask of a payload with these attributes. Without attributes, the result is {@link MASK_PRICE}. */
export function maskOf(names: readonly string[]): number {
  const wanted = names.includes(QUALITY_NAME) ? [...names, ...QUALITY_ATTRIBUTES] : names;
  let mask = MASK_PRICE;
  for (const { name, bit } of STREAM_ATTRIBUTES) if (wanted.includes(name)) mask |= 1 << bit;
  return mask;
}

/** Returns the fields of an asset's attributes in an unsigned frame. */
export function attributeFields(values: AttributeValues): Readonly<Record<string, number>> {
  const fields: Record<string, number> = {};
  for (const { field, property } of STREAM_ATTRIBUTES) {
    const value = values[property];
    if (value != null) fields[field] = value;
  }
  return fields;
}

/** Returns the texts of an asset's attributes, in the order of the table. */
export function attributeTexts(values: AttributeValues): string[] {
  return STREAM_ATTRIBUTES.flatMap(({ name, property }) => {
    const value = values[property];
    return value === undefined ? [] : [ATTRIBUTE_MEANINGS[name].textOf(value)];
  });
}
