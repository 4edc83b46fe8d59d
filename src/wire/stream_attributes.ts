import { MARKET_STATUS_NAMES, type MarketStatus, NO_SCHEDULE } from './market_status_codes.js';
import type { InputQuality } from './price_quality.js';

/** The facts about an asset at the time of a frame. The service reads the values of attributes from these facts. */
export interface AttributeFacts {
  /** The time of the frame, in UNIX nanoseconds. */
  readonly timestampNs: bigint;
  /** The market status code, or {@link NO_SCHEDULE}. */
  readonly marketStatus: number;
  /** The quality of the inputs that count for the price. */
  readonly quality: InputQuality;
}

/** The values of attributes, as the client returns them. A value is absent if the reader did not request its attribute. */
export interface AttributeValues {
  /** The market status code; `null` for an asset without a schedule. */
  readonly marketStatus?: number | null;
  /** The age of the newest input that counts for the price, at the time of the frame, in whole milliseconds. */
  readonly inputAgeMs?: number | null;
  /** The number of publishers whose prices count; 255 stands for 255 or more. */
  readonly publishers?: number | null;
  /** The difference between the highest and the lowest input, in millionths of the absolute value of the median of the inputs. */
  readonly spreadPpm?: number | null;
}

/** A fact that a stream adds to each asset on request. Its value is an unsigned integer. */
export interface StreamAttribute {
  /** The name in `addtl_attrs`. */
  readonly name: string;
  /** The field of an asset in unsigned frames. */
  readonly field: string;
  /** The name of the value in the client. */
  readonly property: keyof AttributeValues;
  /** The bit in the mask of signed payloads. */
  readonly bit: number;
  /** The size of the value in signed payloads. */
  readonly bytes: 1 | 4;
  /** The value of an asset that lacks the fact. Unsigned frames omit this value. */
  readonly none?: number;
  /** The documents' text about the value, in CommonMark. */
  readonly rule: string;
  readonly read: (facts: AttributeFacts) => number;
  /** Returns the text that programs of the client show for a value. */
  readonly textOf: (value: number | null) => string;
}

/**
 * All attributes, ascending by bit. The encoder, the query of streams, the documents, the client, the live page and the command line read
 * this table. A new attribute is a new entry here and a value in {@link AttributeFacts} and {@link AttributeValues}.
 */
export const STREAM_ATTRIBUTES: readonly StreamAttribute[] = [
  {
    name: 'ms',
    field: 'ms',
    property: 'marketStatus',
    bit: 1,
    bytes: 1,
    none: NO_SCHEDULE,
    rule: 'Market status at the time of the frame',
    read: ({ marketStatus }) => marketStatus,
    textOf: (code) => (code === null ? 'no market hours' : marketText(code)),
  },
  {
    name: 'age',
    field: 'age',
    property: 'inputAgeMs',
    bit: 2,
    bytes: 4,
    rule: 'Milliseconds from the time of the newest input that counts for the price to the time of the frame, truncated; 0 if the input is ahead, at most 2^32 − 1',
    read: ({ timestampNs, quality }) => bounded((timestampNs - quality.newestNs) / NS_PER_MS),
    textOf: (ageMs) => `age ${((ageMs ?? 0) / 1_000).toFixed(1)} s`,
  },
  {
    name: 'n',
    field: 'n',
    property: 'publishers',
    bit: 3,
    bytes: 1,
    rule: 'Number of publishers whose prices count; 255 stands for 255 or more',
    read: ({ quality }) => Math.min(quality.publishers, UINT8_MAX),
    textOf: (count) =>
      `${count}${count === UINT8_MAX ? ' or more' : ''} ${count === 1 ? 'publisher' : 'publishers'}`,
  },
  {
    name: 'spread',
    field: 'spr',
    property: 'spreadPpm',
    bit: 4,
    bytes: 4,
    rule: 'Difference between the highest and the lowest input, in millionths of the absolute value of the median of the inputs, truncated; at most 2^32 − 1',
    read: ({ quality }) => quality.spreadPpm,
    textOf: (ppm) => `${((ppm ?? 0) / 100).toFixed(1)} bp${ppm === UINT32_MAX ? ' or more' : ''}`,
  },
];

const NS_PER_MS = 1_000_000n;
const UINT8_MAX = 0xff;
const UINT32_MAX = 0xffff_ffff;

/** Returns the nearest unsigned integer of 32 bits. */
function bounded(value: bigint): number {
  if (value < 0n) return 0;
  return value > UINT32_MAX ? UINT32_MAX : Number(value);
}

function marketText(code: number): string {
  return MARKET_STATUS_NAMES[code as MarketStatus] ?? `market status ${code}`;
}

/** The bit of the price in the mask. This bit is always set in the versioned layout. */
export const MASK_PRICE = 1;

/** The name in `addtl_attrs` that requests all attributes about the inputs of a price. */
export const QUALITY_NAME = 'quality';
export const QUALITY_ATTRIBUTES: readonly string[] = ['age', 'n', 'spread'];

/** The names that `addtl_attrs` accepts. */
export const ATTRIBUTE_NAMES = [...STREAM_ATTRIBUTES.map(({ name }) => name), QUALITY_NAME];

/** The mask with the bits of all attributes. */
export const MASK_MAX = maskOf(ATTRIBUTE_NAMES);

const ATTRIBUTES_BY_MASK = new Map<number, readonly StreamAttribute[]>();

/** Returns the attributes of a mask, ascending by bit. */
export function attributesOf(mask: number): readonly StreamAttribute[] {
  let attributes = ATTRIBUTES_BY_MASK.get(mask);
  if (attributes === undefined) {
    attributes = STREAM_ATTRIBUTES.filter(({ bit }) => (mask & (1 << bit)) !== 0);
    ATTRIBUTES_BY_MASK.set(mask, attributes);
  }
  return attributes;
}

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
  return STREAM_ATTRIBUTES.flatMap(({ property, textOf }) => {
    const value = values[property];
    return value === undefined ? [] : [textOf(value)];
  });
}
