import fc from 'fast-check';
import { test } from 'tap';
import { parseFrame } from '../../src/client/prices/frame.js';
import { decodePayload, type Payload } from '../../src/client/verify/decode_payload.js';
import { evmAddress } from '../../src/crypto/evm.js';
import { keccak256 } from '../../src/crypto/keccak.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import type { AssetIndex } from '../../src/model/asset.js';
import { PRICE_MAX, PRICE_MIN, type Price } from '../../src/model/price.js';
import { FrameEncoder } from '../../src/stream/encoder.js';
import { PriceTable } from '../../src/stream/price_table.js';
import { SignedBlock } from '../../src/stream/signed_block.js';
import { NO_SCHEDULE } from '../../src/wire/market_status_codes.js';
import { signed } from '../client/signed_payload.js';
import { QUALITY } from '../model/sample.js';
import { cases } from '../tier.js';
import {
  ASSETS,
  bodyOf,
  MASKS,
  type ShownAsset,
  TAXONOMY_ID,
  TIME_NS,
  unsignedFrameOf,
  valuesOf,
} from './attribute_bodies.js';

/**
 * The 65-byte signature and the body of a recorded payload. The payload has a single asset with id 1, 100 * 10^18 and
 * taxonomy 1.
 */
const VECTOR_SIGNER = 'c4a02e7d370402f4afc36032076b05e74ff81786';
const VECTOR_SIGNATURE = Buffer.from(
  [
    '690a1cce3cf72e889b699ef800fb80ba47c123ce7422517bfcd2ce0c701423a1', // r
    '2938fb6fcf4424c21e39688cd41dd8919b149642b590328ada7532c88b5f0d6b', // s
    '01', // recovery number
  ].join(''),
  'hex',
);
const VECTOR_BODY = [
  '0001', // taxonomy ID, uint16
  '187f4dcc627041f8', // timestamp in ns, uint64
  '0001', // asset ID, uint16
  '00000000000000056bc75e2d63100000', // 100 * 10^18, int128
].join('');
const BODY_WITH_ALL_ATTRIBUTES = [
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

function tableOf(assets: readonly ShownAsset[]): PriceTable {
  const table = new PriceTable(assets.map(({ id }) => id));
  for (const [index, { price, ...quality }] of assets.entries())
    table.set(index as AssetIndex, price as Price, quality);
  return table;
}

function encoderOf(assets: readonly ShownAsset[], taxonomyId = TAXONOMY_ID, table = tableOf(assets)) {
  return new FrameEncoder(table, taxonomyId, () => Uint8Array.from(assets.map(({ status }) => status)));
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function text(frame: Uint8Array): string {
  return Buffer.from(frame).toString();
}

function frameText(signature: Uint8Array, bodyHex: string): string {
  return `{"type":"signed_ecdsa","p":"0x${hex(signature)}${bodyHex}"}`;
}

function indexes(count: number): AssetIndex[] {
  return Array.from({ length: count }, (_, index) => index as AssetIndex);
}

test('the simplified payload is the one of the vector, byte by byte', async (t) => {
  const encoder = encoderOf(ASSETS, 1);
  const block = new SignedBlock();
  const body = encoder.addSigned(block, indexes(1), TIME_NS);
  t.equal(hex(body), VECTOR_BODY);
  const signer = secp256k1.recover(keccak256(body), VECTOR_SIGNATURE.subarray(0, 64), 1);
  t.equal(hex(evmAddress(signer!)), VECTOR_SIGNER);
  t.equal(text(block.sign(0, VECTOR_SIGNATURE, 0)), frameText(VECTOR_SIGNATURE, VECTOR_BODY));
});

test('the payload with all attributes, field by field', async (t) => {
  t.equal(bodyOf(0x1f), BODY_WITH_ALL_ATTRIBUTES);
});

test('the unsigned frame is the JSON that the pages describe', async (t) => {
  t.equal(
    text(encoderOf(ASSETS).unsignedFrame(indexes(2), TIME_NS, 0b11)),
    '{"type":"unsigned","tax":7,"ts":1765215119172715000,' +
      '"a":[{"id":1,"v":"100000000000000000000"},{"id":65535,"v":"-1","ms":2}]}',
  );
});

test('frames of every mask are encoded and decoded as the documents say', async (t) => {
  const block = new SignedBlock();
  for (const mask of MASKS) {
    for (const isBinary of [false, true]) {
      const body = encoderOf(ASSETS).addSigned(block, indexes(2), TIME_NS, mask, isBinary);
      t.equal(hex(body), bodyOf(mask));
    }
    const payload = decodePayload(signed(Buffer.from(bodyOf(mask), 'hex'))) as Payload;
    const expected = ASSETS.map((asset) => ({
      id: asset.id,
      value: asset.price,
      ...Object.fromEntries(
        valuesOf(asset, mask).map(({ property, value, none }) => [property, value === none ? null : value]),
      ),
    }));
    t.same(payload.assets, expected);
    t.equal(payload.layout, mask === 1 ? 'simplified' : 'versioned');
    t.equal(text(encoderOf(ASSETS).unsignedFrame(indexes(2), TIME_NS, mask)), unsignedFrameOf(mask));
    const frame = parseFrame(unsignedFrameOf(mask));
    const values = frame?.type === 'unsigned' ? frame.assets[1] : undefined;
    for (const { property, value } of valuesOf(ASSETS[1]!, mask)) t.match(values, { [property]: value });
  }
});

test('a mask with a bit that no attribute has is refused, whatever the length', async (t) => {
  for (const mask of [0x21, 0x3f, 0x8001, 0x0101]) {
    for (const known of MASKS.slice(1)) {
      const body = Buffer.from(bodyOf(known), 'hex');
      body.writeUInt16BE(mask, 2);
      t.match(decodePayload(signed(body)), { check: 'mask' });
    }
  }
});

test('frames of any assets agree with slow writers, and keep their bodies, whatever changes before they are signed', async (t) => {
  // The encoder keeps views of neighbours by their index modulo 1,024, so the second half of the places meets the first.
  const places = indexes(2_048).filter((index) => index % 1_024 < 10);
  const prices = fc.oneof(
    fc.bigInt({ min: PRICE_MIN, max: PRICE_MAX }),
    fc.constantFrom<bigint>(0n, PRICE_MIN, PRICE_MAX, -1n),
  );
  const round = fc.record({
    changes: fc.array(fc.tuple(fc.constantFrom(...places), prices), { maxLength: 5 }),
    set: fc.subarray(places, { minLength: 1 }),
    mask: fc.constantFrom(...MASKS.slice(0, 2), ...MASKS),
    isBinary: fc.boolean(),
    firstId: fc.option(fc.nat(60_000), { freq: 1 }),
    signature: fc.uint8Array({ minLength: 65, maxLength: 65 }),
  });
  // The block is used again for each round, like the pieces of a tick.
  const block = new SignedBlock();
  fc.assert(
    fc.property(fc.array(round, { minLength: 1, maxLength: 20 }), (rounds) => {
      const statuses = [0, 1, 2, 3, NO_SCHEDULE];
      const assets = indexes(2_048).map((index): ShownAsset => {
        return { ...QUALITY, id: index, price: 0n, status: statuses[index % statuses.length]! };
      });
      const table = tableOf(assets);
      const encoder = encoderOf(assets, TAXONOMY_ID, table);
      block.clear();
      const expected = rounds.map(({ changes, set, mask, isBinary, firstId, signature }) => {
        if (firstId !== null) {
          for (const [index, asset] of assets.entries()) assets[index] = { ...asset, id: firstId + index };
          table.resize(assets.map(({ id }) => id));
        }
        for (const [index, price] of changes) {
          assets[index] = { ...assets[index]!, price };
          table.set(index, price as Price, QUALITY);
        }
        const shown = set.map((index) => assets[index]!);
        const bodyHex = bodyOf(mask, shown);
        t.equal(hex(encoder.addSigned(block, set, TIME_NS, mask, isBinary)), bodyHex);
        t.equal(text(encoder.unsignedFrame(set, TIME_NS, mask)), unsignedFrameOf(mask, shown));
        return isBinary ? hex(signature) + bodyHex : frameText(signature, bodyHex);
      });
      const signatures = Buffer.concat(rounds.map(({ signature }) => signature));
      const frames = rounds.map(({ isBinary }, i) => {
        const frame = block.sign(i, signatures, 65 * i);
        return isBinary ? hex(frame) : text(frame);
      });
      t.same(frames, expected);
    }),
    { numRuns: cases(100) },
  );
});

test('a thousand assets with the longest texts fit', async (t) => {
  const assets = indexes(1_000).map((index): ShownAsset => {
    return {
      id: 65_535 - index,
      price: PRICE_MIN,
      status: 3,
      newestNs: 0n,
      publishers: 300,
      spreadPpm: 0xffff_ffff,
    };
  });
  const encoder = encoderOf(assets, 65_535);
  const block = new SignedBlock();
  for (const mask of [1, 0x1f]) {
    block.clear();
    const unsigned = text(encoder.unsignedFrame(indexes(1_000), TIME_NS, mask));
    t.equal(unsigned.length, unsignedFrameOf(mask, assets, 65_535).length);
    encoder.addSigned(block, indexes(1_000), TIME_NS, mask);
    t.equal(
      text(block.sign(0, VECTOR_SIGNATURE, 0)),
      frameText(VECTOR_SIGNATURE, bodyOf(mask, assets, 65_535)),
    );
  }
});
