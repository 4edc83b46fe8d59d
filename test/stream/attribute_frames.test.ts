import { test } from 'tap';
import { parseFrame } from '../../src/client/prices/frame.js';
import { decodePayload, type Payload } from '../../src/client/verify/decode_payload.js';
import type { AssetIndex } from '../../src/model/asset.js';
import type { Price } from '../../src/model/price.js';
import { FrameEncoder } from '../../src/stream/encoder.js';
import { PriceTable } from '../../src/stream/price_table.js';
import { SignedBlock } from '../../src/stream/signed_block.js';
import { attributeFields, attributeTexts } from '../../src/wire/attribute_facts.js';
import { signed } from '../client/signed_payload.js';
import { ASSETS, attributesIn, bodyOf, MASKS, TIME_NS } from './attribute_bodies.js';

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
  '001f', // attribute mask: price, ms, age, n, spread
  '0007', // taxonomy ID
  '187f4dcc627041f8', // timestamp in ns
  '0001', // asset ID
  '00000000000000056bc75e2d63100000', // value
  'ff', // ms: no market schedule
  '00000190', // age: the newest input is 400 ms old, truncated
  '03', // n: 3 publishers
  '0000005a', // spread: 90 millionths
  'ffff', // asset ID
  'ffffffffffffffffffffffffffffffff', // -1 in two's complement
  '02', // ms: extended hours
  '00000000', // age: the newest input is ahead of the frame
  'ff', // n: 255 or more publishers
  'ffffffff', // spread: 2^32 - 1 millionths or more
].join('');

test('the payload with all attributes, field by field', async (t) => {
  t.equal(bodyOf(0x1f), FULL);
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

test('a mask with a bit that no attribute has is refused, whatever the length', async (t) => {
  for (const mask of [0x21, 0x3f, 0x8001, 0x0101]) {
    for (const known of MASKS) {
      const body = Buffer.from(bodyOf(known), 'hex');
      body.writeUInt16BE(mask, 2);
      t.match(decodePayload(signed(body)), { check: 'mask' });
    }
  }
  // With 7 bytes of attributes, two assets have the length of three assets without attributes.
  const later = Buffer.from(bodyOf(0b1101), 'hex');
  later.writeUInt16BE(0x21, 2);
  t.match(decodePayload(signed(Buffer.concat([later, Buffer.alloc(2 * 2)]))), { check: 'mask' });
});

test('programs show an asset’s attributes in words, or as in an unsigned frame', async (t) => {
  const { assets } = decodePayload(signed(Buffer.from(FULL, 'hex'))) as Payload;
  t.same(assets.map(attributeFields), [
    { age: 400, n: 3, spr: 90 },
    { ms: 2, age: 0, n: 255, spr: 0xffff_ffff },
  ]);
  t.same(
    assets.map((asset) => attributeTexts(asset)),
    [
      ['no market hours', 'age 0.4 s', '3 publishers', '0.9 bp'],
      ['extended hours', 'age 0.0 s', '255 or more publishers', '42949673.0 bp or more'],
    ],
  );
});
