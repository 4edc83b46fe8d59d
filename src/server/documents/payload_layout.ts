/** A field of a `signed_ecdsa` payload. All are big-endian. */
export interface PayloadField {
  readonly name: string;
  readonly bytes: number;
  readonly rule: string;
}

/** What stands once behind the signature, and what is repeated for each asset. */
export interface PayloadLayout {
  readonly head: readonly PayloadField[];
  readonly asset: readonly PayloadField[];
}

/** The first 65 bytes of every payload: over the Keccak-256 of all that follows, without the EIP-191 prefix. */
export const SIGNATURE_FIELDS: readonly PayloadField[] = [
  { name: 'r', bytes: 32, rule: 'Signature' },
  { name: 's', bytes: 32, rule: 'Signature, low-s' },
  { name: 'v', bytes: 1, rule: 'Recovery ID, 0 or 1' },
];

const TAXONOMY_ID = { name: 'taxonomy ID', bytes: 2, rule: 'Unsigned' };
const TIMESTAMP = { name: 'timestamp', bytes: 8, rule: 'Nanoseconds' };
const ASSET = [
  { name: 'asset ID', bytes: 2, rule: 'Unsigned; assets are ascending by ID' },
  { name: 'price', bytes: 16, rule: "Times 10^18, two's complement" },
];

/** The simplified layout, for connections without `addtl_attrs`. */
export const SIMPLIFIED_LAYOUT: PayloadLayout = { head: [TAXONOMY_ID, TIMESTAMP], asset: ASSET };

/** The versioned layout, for connections with `addtl_attrs`. */
export const VERSIONED_LAYOUT: PayloadLayout = {
  head: [
    { name: 'magic', bytes: 1, rule: '`0xff`: tells it from the simplified layout' },
    { name: 'version', bytes: 1, rule: '`0x02`' },
    { name: 'attribute mask', bytes: 2, rule: 'Bit 0: price, always set. Bit 1: `ms`. With `ms`: `0x0003`' },
    TAXONOMY_ID,
    TIMESTAMP,
  ],
  asset: [
    ...ASSET,
    { name: 'ms', bytes: 1, rule: 'Market status, or `0xff` for an asset without a schedule' },
  ],
};

/** The layouts as CommonMark, with tables. */
export function describePayload(): string {
  return [
    'The first 65 bytes are an ECDSA signature on secp256k1 over the Keccak-256 of all bytes behind it.',
    table(SIGNATURE_FIELDS),
    'Behind it, without `addtl_attrs`:',
    layoutTable(SIMPLIFIED_LAYOUT),
    'Behind it, with `addtl_attrs`:',
    layoutTable(VERSIONED_LAYOUT),
  ].join('\n\n');
}

function layoutTable({ head, asset }: PayloadLayout): string {
  return table([...head, ...asset.map((field) => ({ ...field, name: `each asset: ${field.name}` }))]);
}

function table(fields: readonly PayloadField[]): string {
  const rows = fields.map(({ name, bytes, rule }) => `| ${name} | ${bytes} | ${rule} |`);
  return ['| Field | Bytes | Rule |', '|---|---|---|', ...rows].join('\n');
}
