import { PRICE_BYTES } from './quantized_price.js';
import { WORD_BYTES } from './signatures.js';
import { attributesOf, MASK_MAX } from './stream_attributes.js';

// The bytes of a `signed_ecdsa` payload. The encoder, the client's decoder and the documents read these tables. All integers are
// big-endian. The documents' text for each field is in `payload_rules.ts`, which a client does not load.

export interface PayloadField<Name extends string = string> {
  readonly name: Name;
  readonly bytes: number;
}

/** Consecutive fields. */
export interface PayloadPart<Name extends string = string> {
  readonly fields: readonly PayloadField<Name>[];
  /** The offset of each field. */
  readonly at: Readonly<Record<Name, number>>;
  readonly bytes: number;
}

/** The layout after the signature: a head that occurs once, and the fields that are repeated for each asset. */
export interface PayloadLayout {
  readonly head: PayloadPart;
  readonly asset: PayloadPart;
}

/** The first byte of the versioned layout. */
export const LAYOUT_MAGIC = 0xff;
/** The second byte of the versioned layout. */
export const LAYOUT_VERSION = 0x02;

const TAXONOMY_ID = { name: 'taxonomy ID', bytes: 2 } as const;
const TIMESTAMP = { name: 'timestamp', bytes: 8 } as const;
const ASSET_ID = { name: 'asset ID', bytes: 2 } as const;
const PRICE = { name: 'price', bytes: PRICE_BYTES } as const;

/**
 * The signature at the beginning of every payload. The signature covers the Keccak-256 of all bytes after the signature,
 * without the EIP-191 prefix.
 */
export const PAYLOAD_SIGNATURE = partOf([
  { name: 'r', bytes: WORD_BYTES },
  { name: 's', bytes: WORD_BYTES },
  { name: 'v', bytes: 1 },
]);

/** The layout of the body on connections without `addtl_attrs`. */
export const SIMPLIFIED_LAYOUT = {
  head: partOf([TAXONOMY_ID, TIMESTAMP]),
  asset: partOf([ASSET_ID, PRICE]),
} satisfies PayloadLayout;

/**
 * The layout of the body on connections with `addtl_attrs`, with all attributes. The requested attributes follow the price in the order of
 * their bits, and the others are absent.
 */
export const VERSIONED_LAYOUT = {
  head: partOf([
    { name: 'magic', bytes: 1 },
    { name: 'version', bytes: 1 },
    { name: 'attribute mask', bytes: 2 },
    TAXONOMY_ID,
    TIMESTAMP,
  ]),
  asset: partOf([ASSET_ID, PRICE, ...attributesOf(MASK_MAX)]),
} satisfies PayloadLayout;

/** Returns the size of an asset in a body with an attribute mask. */
export function assetBytes(mask: number): number {
  return attributesOf(mask).reduce((sum, { bytes }) => sum + bytes, SIMPLIFIED_LAYOUT.asset.bytes);
}

function partOf<const Name extends string>(fields: readonly PayloadField<Name>[]): PayloadPart<Name> {
  let bytes = 0;
  const places = fields.map((field) => {
    const place = [field.name, bytes] as const;
    bytes += field.bytes;
    return place;
  });
  return { fields, at: Object.fromEntries(places) as Record<Name, number>, bytes };
}
