import { test } from 'tap';
import { parseFrame } from '../../src/client/prices/frame.js';
import { decodePayload, type Payload } from '../../src/client/verify/decode_payload.js';
import { verifyPayload } from '../../src/client/verify/verify_payload.js';
import type { AssetIndex } from '../../src/model/asset.js';
import type { Price } from '../../src/model/price.js';
import type { TimeNs } from '../../src/model/time.js';
import { FrameEncoder } from '../../src/stream/encoder.js';
import { PriceTable } from '../../src/stream/price_table.js';
import { SignedBlock } from '../../src/stream/signed_block.js';
import { attributeTexts } from '../../src/wire/stream_attributes.js';
import { SIGNER, signed } from '../client/signed_payload.js';

// Frames with every set of attributes. The expected bytes come from a small encoder in this test.

const TIME_NS = 0x187f4dcc627041f8n as TimeNs;
const ASSETS = [
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

/** The attributes with the value of each asset, independent of the service's table. */
const ATTRIBUTES = [
  { name: 'ms', bit: 1, bytes: 1, field: 'ms', property: 'marketStatus', values: [0xff, 2], none: 0xff },
  { name: 'age', bit: 2, bytes: 4, field: 'age', property: 'inputAgeMs', values: [400, 0] },
  { name: 'n', bit: 3, bytes: 1, field: 'n', property: 'publishers', values: [3, 255] },
];
/** The masks with at least one attribute. */
const MASKS = Array.from({ length: 2 ** ATTRIBUTES.length - 1 }, (_, i) => ((i + 1) << 1) | 1);

const hex = (value: bigint | number, bytes: number) =>
  BigInt.asUintN(8 * bytes, BigInt(value))
    .toString(16)
    .padStart(2 * bytes, '0');
const attributesIn = (mask: number) => ATTRIBUTES.filter(({ bit }) => (mask & (1 << bit)) !== 0);

function bodyOf(mask: number): string {
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

function encoder(): FrameEncoder {
  const table = new PriceTable(ASSETS.map(({ id }) => id));
  for (const [i, { price, ...quality }] of ASSETS.entries())
    table.set(i as AssetIndex, price as Price, quality);
  return new FrameEncoder(table, 7, () => Uint8Array.from(ASSETS.map(({ status }) => status)));
}

const INDEXES = [0, 1] as AssetIndex[];
const FULL = [
  'ff', // magic
  '02', // layout version
  '000f', // attribute mask: price, ms, age, n
  '0007', // taxonomy ID
  '187f4dcc627041f8', // timestamp in ns
  '0001', // asset ID
  '00000000000000056bc75e2d63100000', // value
  'ff', // ms: no market schedule
  '00000190', // age: the newest input is 400 ms old, truncated
  '03', // n: 3 publishers
  'ffff', // asset ID
  'ffffffffffffffffffffffffffffffff', // -1 in two's complement
  '02', // ms: extended hours
  '00000000', // age: the newest input is ahead of the frame
  'ff', // n: 255 or more publishers
].join('');

test('the payload with all attributes, field by field', async (t) => {
  t.equal(bodyOf(0x0f), FULL);
});

test('payloads of every mask are encoded and decoded as the documents say', async (t) => {
  const block = new SignedBlock();
  for (const mask of MASKS) {
    for (const isBinary of [false, true]) {
      const body = encoder().addSigned(block, INDEXES, TIME_NS, mask, isBinary);
      t.equal(Buffer.from(body).toString('hex'), bodyOf(mask));
    }
    const payload = decodePayload(signed(Buffer.from(bodyOf(mask), 'hex'))) as Payload;
    const expected = ASSETS.map(({ id, price }, i) => ({
      id,
      value: price,
      ...Object.fromEntries(
        attributesIn(mask).map(({ property, values, none }) => [
          property,
          values[i] === none ? null : values[i],
        ]),
      ),
    }));
    t.same(payload.assets, expected);
    t.equal(payload.layout, 'versioned');
  }
});

test('unsigned frames of every mask have the fields of the attributes', async (t) => {
  for (const mask of MASKS) {
    const a = ASSETS.map(({ id, price }, i) => ({
      id,
      v: String(price),
      ...Object.fromEntries(
        attributesIn(mask)
          .filter(({ values, none }) => values[i] !== none)
          .map(({ field, values }) => [field, values[i]]),
      ),
    }));
    const text = `{"type":"unsigned","tax":7,"ts":${TIME_NS},"a":${JSON.stringify(a)}}`;
    t.equal(encoder().unsignedFrame(INDEXES, TIME_NS, mask).toString(), text);
    const frame = parseFrame(text);
    const values = frame?.type === 'unsigned' ? frame.assets[1] : undefined;
    for (const { property, values: expected } of attributesIn(mask))
      t.match(values, { [property]: expected[1] });
  }
});

test('a payload of any mask with a changed byte is never accepted', async (t) => {
  let accepted = 0;
  let tried = 0;
  for (const mask of MASKS) {
    const bytes = Buffer.from(signed(Buffer.from(bodyOf(mask), 'hex')).slice(2), 'hex');
    const isAccepted = (hexText: string) =>
      verifyPayload(hexText, { signers: [SIGNER] }).verdict === 'verified';
    t.ok(isAccepted(bytes.toString('hex')), `mask ${mask}`);
    for (let at = 0; at < bytes.length; at++) {
      const flipped = Buffer.from(bytes);
      flipped[at]! ^= 1 << (at % 8);
      tried += 1;
      if (isAccepted(flipped.toString('hex'))) accepted += 1;
    }
  }
  t.equal(accepted, 0, `${tried} changed bytes`);
});

test('a mask with a bit that no attribute has is refused, whatever the length', async (t) => {
  for (const mask of [0x11, 0x21, 0x3f, 0x8001, 0x0101]) {
    for (const known of MASKS) {
      const body = Buffer.from(bodyOf(known), 'hex');
      body.writeUInt16BE(mask, 2);
      t.match(decodePayload(signed(body)), { check: 'mask' });
    }
  }
});

test('programs show an asset’s attributes in words', async (t) => {
  const { assets } = decodePayload(signed(Buffer.from(FULL, 'hex'))) as Payload;
  t.same(
    assets.map((asset) => attributeTexts(asset)),
    [
      ['no market hours', 'age 0.4 s', '3 publishers'],
      ['extended hours', 'age 0.0 s', '255 or more publishers'],
    ],
  );
});
