import fc from 'fast-check';
import { test } from 'tap';
import { parsePrice } from '../../src/model/price.js';
import type { PublisherPrice, PublisherWire } from '../../src/model/signed_price.js';
import type { TimeNs } from '../../src/model/time.js';
import { decodeAcceptedInput, encodeAcceptedInput } from '../../src/records/accepted_input.js';
import { AcceptedRow } from '../../src/records/accepted_row.js';
import { encodeInput } from '../../src/records/input_record.js';
import { InputTable } from '../../src/records/input_row.js';
import { START_NS, sampleAsset, sampleInput, samplePublisher } from '../model/sample.js';
import { cases } from '../tier.js';

const SYMBOL = 'BTCUSD';
const hex = fc
  .string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: 1, maxLength: 64 })
  .map((digits) => `0x${digits}`);
/** Few different texts, so that an update often has the texts of the update before. */
const few = fc.constantFrom('0x1', '0x01', '0xAB', '0xab', '0x', '');
const number = fc.oneof(hex, few);
const wire: fc.Arbitrary<PublisherWire> = fc.record(
  {
    publisherKey: number,
    externalAssetId: fc.oneof(fc.constant(SYMBOL), number),
    price: fc.oneof(fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n - 1n }).map(String), few),
    r: number,
    s: number,
    v: fc.option(fc.constantFrom('0x1b', '0x1B', '0x0'), { nil: undefined }),
    msgHash: number,
    metadata: fc.option(fc.oneof(few, fc.string({ unit: 'grapheme', maxLength: 400 })), { nil: undefined }),
  },
  { noNullPrototype: true },
);
const input = fc.record(
  {
    price: fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n - 1n }),
    timestampNs: fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), fc.constant(1n)),
    wire,
  },
  { noNullPrototype: true },
) as unknown as fc.Arbitrary<PublisherPrice>;
/** An input whose text of the price parses to its price, as the gate accepts it. */
const accepted = input.map((one) => ({ ...one, price: parsePrice(one.wire.price) ?? one.price }));

test('a row returns the texts, the price and the time that were written last', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(3), input), { minLength: 1, maxLength: 20 }), (writes) => {
      const rows = new InputTable();
      const four = Array.from({ length: 4 }, () => ({ row: rows.add(SYMBOL), last: writes[0]![1] }));
      for (const place of four) place.row.restore(place.last);
      for (const [at, one] of writes) {
        four[at]!.row.restore(one);
        four[at]!.last = one;
        for (const { row, last } of four) t.strictSame(plain(row.take()), last);
        t.equal(four[at]!.row.price, one.price);
        t.equal(four[at]!.row.timestampNs, one.timestampNs);
      }
    }),
    { numRuns: cases(300) },
  );
});

test('the record of a row reads back as its input, and an input that was taken stays as it was', async (t) => {
  fc.assert(
    fc.property(input, input, (first, second) => {
      const row = new InputTable().add(SYMBOL);
      row.restore(first);
      const taken = row.take();
      const seen = { floorNs: START_NS, senders: ['alice'], count: 0, start: 0, updates: [] };
      const record = new Uint8Array(encodeAcceptedInput(new AcceptedRow(row, seen)));
      t.strictSame(decodeAcceptedInput(record), { input: first, seen });
      const bytes = encodeInput(taken);
      row.restore(second);
      t.equal(encodeInput(taken), bytes, 'the bytes of an input are made once');
      t.strictSame(plain(taken), first);
    }),
    { numRuns: cases(300) },
  );
});

test('a row recognises its own texts, and no others', async (t) => {
  fc.assert(
    fc.property(accepted, accepted, (first, second) => {
      const row = new InputTable().add(SYMBOL);
      row.write(first.wire.publisherKey, first.price, first.timestampNs, first.wire);
      for (const other of [
        first,
        second,
        { ...second, wire: { ...first.wire, metadata: second.wire.metadata } },
      ]) {
        const isSigned = signedTextsOf(other.wire) === signedTextsOf(first.wire);
        t.equal(row.isSigned(other.wire), isSigned);
        const isSame =
          isSigned && other.wire.metadata === first.wire.metadata && other.timestampNs === first.timestampNs;
        t.equal(row.is(other.timestampNs, other.wire), isSame);
      }
    }),
    { numRuns: cases(500) },
  );
});

test('each text of an update counts, also one that is longer than a row', async (t) => {
  const first = sampleInput(sampleAsset(), samplePublisher(), 5n, START_NS);
  const row = new InputTable().add(SYMBOL);
  for (const metadata of [undefined, '{}', `{"note":"${'x'.repeat(5_000)}"}`]) {
    const texts = { ...first.wire, metadata };
    row.write('0x1', first.price, first.timestampNs, texts);
    t.equal(row.is(first.timestampNs, texts), true);
    t.equal(row.is((first.timestampNs + 1n) as TimeNs, texts), false);
    for (const name of ['r', 's', 'v', 'msgHash', 'externalAssetId', 'price'] as const) {
      const changed = { ...texts, [name]: `${texts[name]}0` };
      t.equal(row.isSigned(changed), false, name);
      t.equal(row.isSigned({ ...texts, [name]: `0x${'1'.repeat(200_000)}` }), false, name);
    }
    t.equal(row.is(first.timestampNs, { ...texts, metadata: '[]' }), false);
    t.equal(row.isSigned({ ...texts, metadata: '[]' }), true, 'the signature does not cover metadata');
  }
});

/** Returns an input without its accessors. */
function plain({ price, timestampNs, wire: texts }: PublisherPrice): PublisherPrice {
  return { price, timestampNs, wire: texts };
}

function signedTextsOf({ r, s, v, msgHash, externalAssetId, price }: PublisherWire): string {
  return JSON.stringify([r, s, v ?? null, msgHash, externalAssetId, price]);
}
