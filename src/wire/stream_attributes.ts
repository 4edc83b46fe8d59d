import { NO_SCHEDULE } from './market_status_codes.js';

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

/** A name in `addtl_attrs`: an attribute, or `quality` for all attributes about the inputs of a price. */
export type AttributeName = 'ms' | 'age' | 'n' | 'spread' | 'quality';

/** A fact that a stream adds to each asset on request. Its value is an unsigned integer. */
export interface StreamAttribute {
  /** The name in `addtl_attrs`. */
  readonly name: Exclude<AttributeName, 'quality'>;
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
}

/**
 * All attributes, ascending by bit. The encoder, the query of streams, the documents, the client, the live page and the command line read
 * this table. A new attribute is an entry here and in `attribute_facts.ts`, which decoders of payloads do not load.
 */
export const STREAM_ATTRIBUTES: readonly StreamAttribute[] = [
  { name: 'ms', field: 'ms', property: 'marketStatus', bit: 1, bytes: 1, none: NO_SCHEDULE },
  { name: 'age', field: 'age', property: 'inputAgeMs', bit: 2, bytes: 4 },
  { name: 'n', field: 'n', property: 'publishers', bit: 3, bytes: 1 },
  { name: 'spread', field: 'spr', property: 'spreadPpm', bit: 4, bytes: 4 },
];

/** The bit of the price in the mask. This bit is always set in the versioned layout. */
export const MASK_PRICE = 1;

/** The mask with the bits of all attributes. */
export const MASK_MAX = STREAM_ATTRIBUTES.reduce((mask, { bit }) => mask | (1 << bit), MASK_PRICE);

/** Returns the attributes of a mask, ascending by bit. */
export function attributesOf(mask: number): readonly StreamAttribute[] {
  return STREAM_ATTRIBUTES.filter(({ bit }) => (mask & (1 << bit)) !== 0);
}
