import { ATTRIBUTE_MEANINGS } from './attribute_facts.js';
import {
  LAYOUT_MAGIC,
  LAYOUT_VERSION,
  type PAYLOAD_SIGNATURE,
  type PayloadPart,
  type SIMPLIFIED_LAYOUT,
  type VERSIONED_LAYOUT,
} from './payload_fields.js';
import { STREAM_ATTRIBUTES } from './stream_attributes.js';

type NameIn<Part> = Part extends PayloadPart<infer Name> ? Name : never;
type FieldName = NameIn<
  typeof PAYLOAD_SIGNATURE | typeof VERSIONED_LAYOUT.head | typeof SIMPLIFIED_LAYOUT.asset
>;

const FIELD_RULES: Readonly<Record<FieldName, string>> = {
  r: 'Signature',
  s: 'Signature, low-s',
  v: 'Recovery ID, 0 or 1',
  magic: `${hexText(LAYOUT_MAGIC)}: tells it from the simplified layout`,
  version: hexText(LAYOUT_VERSION),
  'attribute mask': `Bit 0: price, always set${STREAM_ATTRIBUTES.map(({ name, bit }) => `; bit ${bit}: \`${name}\``).join('')}`,
  'taxonomy ID': 'Unsigned',
  timestamp: 'Nanoseconds',
  'asset ID': 'Unsigned; assets are ascending by ID',
  price: "Times 10^18, two's complement",
};

/** The documents' text for each field of a payload, in CommonMark. */
export const PAYLOAD_RULES: Readonly<Record<string, string>> = {
  ...FIELD_RULES,
  ...Object.fromEntries(
    STREAM_ATTRIBUTES.map(({ name, none }) => [
      name,
      `${ATTRIBUTE_MEANINGS[name].rule}${none === undefined ? '' : `; ${hexText(none)} for an asset without one`}`,
    ]),
  ),
};

function hexText(byte: number): string {
  return `\`0x${byte.toString(16).padStart(2, '0')}\``;
}
