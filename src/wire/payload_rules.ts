import { NO_SCHEDULE } from './market_status_codes.js';
import {
  LAYOUT_MAGIC,
  LAYOUT_VERSION,
  MASK_PRICE_AND_MARKET_STATUS,
  type PAYLOAD_SIGNATURE,
  type PayloadPart,
  type VERSIONED_LAYOUT,
} from './payload_fields.js';

type NameIn<Part> = Part extends PayloadPart<infer Name> ? Name : never;
type FieldName = NameIn<
  typeof PAYLOAD_SIGNATURE | typeof VERSIONED_LAYOUT.head | typeof VERSIONED_LAYOUT.asset
>;

/** The documents' text for each field of a payload, in CommonMark. */
export const PAYLOAD_RULES: Readonly<Record<FieldName, string>> = {
  r: 'Signature',
  s: 'Signature, low-s',
  v: 'Recovery ID, 0 or 1',
  magic: `${hexText(LAYOUT_MAGIC, 1)}: tells it from the simplified layout`,
  version: hexText(LAYOUT_VERSION, 1),
  'attribute mask': `Bit 0: price, always set. Bit 1: \`ms\`. With \`ms\`: ${hexText(MASK_PRICE_AND_MARKET_STATUS, 2)}`,
  'taxonomy ID': 'Unsigned',
  timestamp: 'Nanoseconds',
  'asset ID': 'Unsigned; assets are ascending by ID',
  price: "Times 10^18, two's complement",
  ms: `Market status, or ${hexText(NO_SCHEDULE, 1)} for an asset without a schedule`,
};

function hexText(value: number, bytes: number): string {
  return `\`0x${value.toString(16).padStart(bytes * 2, '0')}\``;
}
