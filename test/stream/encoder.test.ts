import fc from 'fast-check';
import { test } from 'tap';
import { createHeldBytes } from '../../scripts/load/held_memory.js';
import { eventually } from '../../scripts/load/wait.js';
import { evmAddress } from '../../src/crypto/evm.js';
import { keccak256 } from '../../src/crypto/keccak.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import type { AssetIndex } from '../../src/model/asset.js';
import { PRICE_MAX, PRICE_MIN, type Price } from '../../src/model/price.js';
import type { TimeNs } from '../../src/model/time.js';
import { FrameEncoder } from '../../src/stream/encoder.js';
import { PriceTable } from '../../src/stream/price_table.js';
import { SignedBlock } from '../../src/stream/signed_block.js';
import { maskOf } from '../../src/wire/attribute_facts.js';
import { NO_SCHEDULE } from '../../src/wire/market_status_codes.js';
import { MASK_PRICE } from '../../src/wire/stream_attributes.js';
import { QUALITY } from '../model/sample.js';
import { cases } from '../tier.js';

const MS = maskOf(['ms']);
const ALL_STATUSES = [0, 1, 2, 3, NO_SCHEDULE];

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
const VECTOR_TIME_NS = 0x187f4dcc627041f8n as TimeNs;

function tableOf(prices: readonly (readonly [id: number, price: bigint])[]): PriceTable {
  const table = new PriceTable(prices.map(([id]) => id));
  prices.forEach(([, price], index) => {
    table.set(index as AssetIndex, price as Price, QUALITY);
  });
  return table;
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
  const encoder = new FrameEncoder(tableOf([[1, 100n * 10n ** 18n]]), 1);
  const block = new SignedBlock();
  const body = encoder.addSigned(block, indexes(1), VECTOR_TIME_NS);
  t.equal(hex(body), VECTOR_BODY);
  const signer = secp256k1.recover(keccak256(body), VECTOR_SIGNATURE.subarray(0, 64), 1);
  t.equal(hex(evmAddress(signer!)), VECTOR_SIGNER);
  t.equal(text(block.sign(0, VECTOR_SIGNATURE, 0)), frameText(VECTOR_SIGNATURE, VECTOR_BODY));
});

test('the unsigned frame is the JSON that the pages describe', async (t) => {
  const table = tableOf([
    [1, 72147681412670819000000n],
    [2, -5n],
  ]);
  const encoder = new FrameEncoder(table, 1, () => Uint8Array.of(NO_SCHEDULE, 0));
  t.equal(
    encoder.unsignedFrame(indexes(2), VECTOR_TIME_NS).toString(),
    '{"type":"unsigned","tax":1,"ts":1765215119172715000,"a":[{"id":1,"v":"72147681412670819000000"},{"id":2,"v":"-5"}]}',
  );
  t.equal(
    encoder.unsignedFrame(indexes(2), VECTOR_TIME_NS, MS).toString(),
    '{"type":"unsigned","tax":1,"ts":1765215119172715000,"a":[{"id":1,"v":"72147681412670819000000"},{"id":2,"v":"-5","ms":0}]}',
  );
  t.equal(
    encoder.unsignedFrame([1 as AssetIndex], VECTOR_TIME_NS).toString(),
    '{"type":"unsigned","tax":1,"ts":1765215119172715000,"a":[{"id":2,"v":"-5"}]}',
  );
});

/** Returns JSON. The timestamp is inserted as text, because no other integer of the frame is too large for a double. */
function slowUnsignedFrame(
  taxonomyId: number,
  timeNs: bigint,
  elements: readonly { id: number; price: bigint; status?: number }[],
): string {
  const a = elements.map(({ id, price, status }) => ({
    id,
    v: String(price),
    ...(status !== undefined && status !== NO_SCHEDULE && { ms: status }),
  }));
  return JSON.stringify({ type: 'unsigned', tax: taxonomyId, ts: '@', a }).replace('"@"', String(timeNs));
}

function slowBody(
  taxonomyId: number,
  timeNs: bigint,
  elements: readonly { id: number; price: bigint; status?: number }[],
  isVersioned: boolean,
): string {
  const header = isVersioned ? 14 : 10;
  const entry = isVersioned ? 19 : 18;
  const view = new DataView(new ArrayBuffer(header + entry * elements.length));
  if (isVersioned) view.setUint32(0, 0xff02_0003);
  view.setUint16(header - 10, taxonomyId);
  view.setBigUint64(header - 8, timeNs);
  elements.forEach(({ id, price, status }, i) => {
    const at = header + i * entry;
    view.setUint16(at, id);
    view.setBigUint64(at + 2, BigInt.asUintN(64, price >> 64n));
    view.setBigUint64(at + 10, BigInt.asUintN(64, price));
    if (isVersioned) view.setUint8(at + 18, status!);
  });
  return Buffer.from(view.buffer).toString('hex');
}

const element = fc.record({
  id: fc.integer({ min: 0, max: 65_535 }),
  price: fc.oneof(
    fc.bigInt({ min: PRICE_MIN, max: PRICE_MAX }),
    fc.constantFrom<bigint>(0n, PRICE_MIN, PRICE_MAX, -1n),
  ),
  status: fc.constantFrom(...ALL_STATUSES),
});

test('frames of any assets agree with slow writers, and do not affect the next frame', async () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(element, { minLength: 1, maxLength: 40, selector: ({ id }) => id }),
      fc.integer({ min: 0, max: 65_535 }),
      fc.array(fc.tuple(fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }), fc.boolean(), fc.nat()), {
        maxLength: 4,
      }),
      fc.uint8Array({ minLength: 65, maxLength: 65 }),
      (elements, taxonomyId, rounds, signature) => {
        const statuses = Uint8Array.from(elements.map(({ status }) => status));
        const table = tableOf(elements.map(({ id, price }) => [id, price]));
        const encoder = new FrameEncoder(table, taxonomyId, () => statuses);
        const block = new SignedBlock();
        return rounds.every(([timeNs, withStatus, skip]) => {
          const some = indexes(elements.length).filter((index) => index % 3 !== skip % 4);
          if (some.length === 0) return true;
          const shown = some.map((index) => {
            const { id, price, status } = elements[index]!;
            return withStatus ? { id, price, status } : { id, price };
          });
          const given = withStatus ? MS : MASK_PRICE;
          const unsigned = encoder.unsignedFrame(some, timeNs as TimeNs, given).toString();
          block.clear();
          const body = encoder.addSigned(block, some, timeNs as TimeNs, given);
          const bodyHex = slowBody(taxonomyId, timeNs, shown, withStatus);
          return (
            unsigned === slowUnsignedFrame(taxonomyId, timeNs, shown) &&
            hex(body) === bodyHex &&
            text(block.sign(0, signature, 0)) === frameText(signature, bodyHex)
          );
        });
      },
    ),
    { numRuns: cases(200) },
  );
});

test('signed frames in one block, of JSON and binary, keep their bodies, whatever changes before they are signed', async (t) => {
  const assets = 20;
  const prices = fc.bigInt({ min: PRICE_MIN, max: PRICE_MAX });
  const round = fc.record({
    changes: fc.array(fc.tuple(fc.nat(assets - 1), prices), { maxLength: 5 }),
    set: fc.subarray(indexes(assets), { minLength: 1 }),
    withStatus: fc.boolean(),
    isBinary: fc.boolean(),
    firstId: fc.option(fc.nat(60_000)),
    signature: fc.uint8Array({ minLength: 65, maxLength: 65 }),
  });
  // The block is used again for each round, like the pieces of a tick.
  const block = new SignedBlock();
  fc.assert(
    fc.property(fc.array(round, { minLength: 1, maxLength: 20 }), (rounds) => {
      const elements = indexes(assets).map((index) => ({
        id: index as number,
        price: 0n,
        status: index % 4,
      }));
      const table = tableOf(elements.map(({ id, price }) => [id, price]));
      const statuses = Uint8Array.from(elements.map(({ status }) => status));
      const encoder = new FrameEncoder(table, 7, () => statuses);
      block.clear();
      const expected = rounds.map(({ changes, set, withStatus, isBinary, firstId, signature }) => {
        if (firstId !== null) {
          for (const element of elements) element.id = firstId + elements.indexOf(element);
          table.resize(elements.map(({ id }) => id));
        }
        for (const [index, price] of changes) {
          elements[index]!.price = price;
          table.set(index as AssetIndex, price as Price, QUALITY);
        }
        const shown = set.map((index) => elements[index]!);
        const bodyHex = slowBody(7, VECTOR_TIME_NS, shown, withStatus);
        const body = encoder.addSigned(block, set, VECTOR_TIME_NS, withStatus ? MS : MASK_PRICE, isBinary);
        t.equal(hex(body), bodyHex);
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

test('neighbours that follow one another in frames have the prices of their own assets', async (t) => {
  const elements = Array.from({ length: 2_100 }, (_, i) => ({ id: i, price: BigInt(i) }));
  const table = tableOf(elements.map(({ id, price }) => [id, price]));
  const encoder = new FrameEncoder(table, 7);
  const block = new SignedBlock();
  const signature = new Uint8Array(65);
  for (const price of [1n, 2n]) {
    for (const [first, count] of [
      [5, 4],
      [1_029, 4],
      [2_053, 4],
      [5, 3],
      [5, 20],
      [1_029, 3],
    ] as const) {
      for (const element of elements.slice(first, first + count)) {
        element.price += price;
        table.set(element.id as AssetIndex, element.price as Price, QUALITY);
      }
      const set = indexes(elements.length).slice(first, first + count);
      const bodyHex = slowBody(7, VECTOR_TIME_NS, elements.slice(first, first + count), false);
      block.clear();
      t.equal(hex(encoder.addSigned(block, set, VECTOR_TIME_NS)), bodyHex);
      t.equal(text(block.sign(0, signature, 0)), frameText(signature, bodyHex));
      t.equal(hex(encoder.addSigned(block, set, VECTOR_TIME_NS, MASK_PRICE, true)), bodyHex);
    }
  }
});

for (const count of [1, 10, 11, 100, 1000]) {
  test(`${count} assets with the longest texts fit, in the sizes of the layouts`, async (t) => {
    // These are the longest ID, price, status, taxonomy ID and timestamp at the same time.
    const elements = Array.from({ length: count }, (_, i) => ({
      id: 65_535 - i,
      price: PRICE_MIN as bigint,
      status: 3,
    }));
    const table = tableOf(elements.map(({ id, price }) => [id, price]));
    const encoder = new FrameEncoder(table, 65_535, () => new Uint8Array(count).fill(3));
    const timeNs = (2n ** 63n - 1n) as TimeNs;
    t.equal(
      encoder.unsignedFrame(indexes(count), timeNs, MS).toString(),
      slowUnsignedFrame(65_535, timeNs, elements),
    );
    const block = new SignedBlock();
    const simplified = encoder.addSigned(block, indexes(count), timeNs).length;
    t.equal(simplified, 10 + 18 * count);
    const versioned = encoder.addSigned(block, indexes(count), timeNs, MS).length;
    t.equal(versioned, 14 + 19 * count);
    t.equal(block.sign(0, VECTOR_SIGNATURE, 0).length, 30 + 2 * (65 + simplified) + 2);
    const frame = block.sign(1, VECTOR_SIGNATURE, 0);
    t.equal(frame.length, 30 + 2 * (65 + versioned) + 2);
    t.equal(JSON.parse(text(frame)).p.slice(132), slowBody(65_535, timeNs, elements, true));
  });
}

test('a block that was large gives its memory back', async (t) => {
  const heldBytes = createHeldBytes();
  const before = heldBytes();
  const blocks = Array.from({ length: 8 }, () => {
    const block = new SignedBlock();
    block.add(1_000_000);
    block.sign(0, new Uint8Array(65), 0);
    block.clear();
    return block;
  });
  // The test waits, because V8 frees the memory of buffers on another thread.
  const isFreed = () => heldBytes() - before < 1_000_000;
  t.ok(await eventually(isFreed, { what: `the memory of ${blocks.length} blocks of 2 MB each` }));
});
