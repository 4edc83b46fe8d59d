import {
  PAYLOAD_SIGNATURE,
  type PayloadField,
  type PayloadLayout,
  SIMPLIFIED_LAYOUT,
  VERSIONED_LAYOUT,
} from '../../wire/payload_fields.js';
import { PAYLOAD_RULES } from '../../wire/payload_rules.js';

/** Describes the layouts in CommonMark, with tables. */
export function describePayload(): string {
  return [
    `The first ${PAYLOAD_SIGNATURE.bytes} bytes are an ECDSA signature on secp256k1 over the Keccak-256 of all bytes behind it.`,
    fieldTable(PAYLOAD_SIGNATURE.fields),
    'Behind it, without `addtl_attrs`:',
    layoutTable(SIMPLIFIED_LAYOUT),
    'Behind it, with `addtl_attrs`; an attribute that the connection does not ask for is absent:',
    layoutTable(VERSIONED_LAYOUT),
  ].join('\n\n');
}

function layoutTable({ head, asset }: PayloadLayout): string {
  return [fieldTable(head.fields), ...asset.fields.map((field) => fieldRow(field, 'each asset: '))].join(
    '\n',
  );
}

function fieldTable(fields: readonly PayloadField[]): string {
  const rows = fields.map((field) => fieldRow(field, ''));
  return ['| Field | Bytes | Rule |', '|---|---|---|', ...rows].join('\n');
}

function fieldRow({ name, bytes }: PayloadField, repeated: string): string {
  return `| ${repeated}${name} | ${bytes} | ${PAYLOAD_RULES[name]} |`;
}
