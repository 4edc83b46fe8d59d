import fc from 'fast-check';
import { Builder } from 'flatbuffers';
import { test } from 'tap';
import type { SeenUpdates } from '../../src/model/seen_updates.js';
import type { PublisherPrice } from '../../src/model/signed_price.js';
import {
  type AcceptedInput,
  decodeAcceptedInput,
  encodeAcceptedInput,
} from '../../src/records/accepted_input.js';
import { InputRecord, SeenRecord } from '../../src/records/generated/record.js';
import { encodePrice } from '../../src/records/input_record.js';
import { packText } from '../../src/records/packed_text.js';
import { cases } from '../tier.js';

const digits = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), maxLength: 70 });
const text = fc.oneof(
  digits.map((those) => `0x${those}`),
  fc.string({ unit: 'grapheme' }),
  fc.string({ maxLength: 300 }),
);
const timeNs = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });

const input = fc.record({
  price: fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n - 1n }),
  timestampNs: timeNs,
  wire: fc.record({
    publisherKey: text,
    externalAssetId: text,
    price: text,
    r: text,
    s: text,
    v: fc.option(text, { nil: undefined }),
    msgHash: text,
    metadata: fc.option(text, { nil: undefined }),
  }),
});
/** An input in the usual form, where the text of the price equals its value. */
const declared = input.map((one) => ({ ...one, wire: { ...one.wire, price: `${one.price}` } }));
const update = fc.record({
  hashKey: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  second: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  nanos: fc.integer({ min: 0, max: 999_999_999 }),
  sender: fc.oneof(fc.constantFrom('alice', 'bob'), fc.string({ unit: 'grapheme' })),
});
const seen = fc.record({ floorNs: timeNs, updates: fc.array(update, { maxLength: 300 }) });
const accepted = fc.record({
  input: fc.oneof(input, declared),
  seen: fc.option(seen, { nil: undefined }),
}) as unknown as fc.Arbitrary<AcceptedInput>;

test('an accepted input reads back, as from the record that the builder of flatbuffers makes', async (t) => {
  fc.assert(
    fc.property(accepted, (one) => {
      const record = new Uint8Array(encodeAcceptedInput(one));
      const expected = plain({ input: one.input, seen: one.seen });
      return (
        plain(decodeAcceptedInput(record)) === expected && plain(decodeAcceptedInput(built(one))) === expected
      );
    }),
    { numRuns: cases(300) },
  );
  t.pass();
});

test('the price is left out where its text says the same', async (t) => {
  const [one] = fc.sample(declared, { numRuns: 1, seed: 1 });
  const declaredInput = one as unknown as PublisherPrice;
  const other = { ...declaredInput, price: (declaredInput.price - 1n) as PublisherPrice['price'] };
  const length = (of: PublisherPrice) => encodeAcceptedInput({ input: of, seen: undefined }).length;
  t.ok(length(other) - length(declaredInput) >= 16);
});

test('a record is little longer than what the builder of flatbuffers makes', async (t) => {
  fc.assert(
    fc.property(accepted, (one) => {
      const record = encodeAcceptedInput(one);
      return record.length % 8 === 0 && record.length <= built(one).length + 32;
    }),
  );
  t.pass();
});

function plain(one: unknown): string {
  return JSON.stringify(one, (_, value) => {
    if (typeof value === 'bigint') return `${value}n`;
    return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
  });
}

/** Returns records in the form that earlier versions wrote. */
function built({ input: one, seen: window }: AcceptedInput): Uint8Array {
  const parts = [builtInput(one), ...(window === undefined ? [] : [builtSeen(window)])];
  return new Uint8Array(Buffer.concat(parts));
}

function builtInput({ price, timestampNs, wire }: PublisherPrice): Uint8Array {
  const builder = new Builder(64);
  const packed = (value: string) => builder.createByteVector(packText(value));
  const priceAt = builder.createByteVector(encodePrice(price));
  const msgHashAt = builder.createByteVector(new Uint8Array(32));
  const keyAt = packed(wire.publisherKey);
  const externalIdAt = packed(wire.externalAssetId);
  const priceTextAt = packed(wire.price);
  const rAt = packed(wire.r);
  const sAt = packed(wire.s);
  const vAt = wire.v === undefined ? 0 : packed(wire.v);
  const msgHashTextAt = packed(wire.msgHash);
  const metadataAt = wire.metadata === undefined ? 0 : packed(wire.metadata);
  InputRecord.startInputRecord(builder);
  InputRecord.addPrice(builder, priceAt);
  InputRecord.addTimestampNs(builder, timestampNs);
  InputRecord.addMsgHash(builder, msgHashAt);
  InputRecord.addPublisherKey(builder, keyAt);
  InputRecord.addExternalAssetId(builder, externalIdAt);
  InputRecord.addPriceText(builder, priceTextAt);
  InputRecord.addR(builder, rAt);
  InputRecord.addS(builder, sAt);
  if (vAt !== 0) InputRecord.addV(builder, vAt);
  InputRecord.addMsgHashText(builder, msgHashTextAt);
  if (metadataAt !== 0) InputRecord.addMetadata(builder, metadataAt);
  builder.finishSizePrefixed(InputRecord.endInputRecord(builder));
  return builder.asUint8Array();
}

function builtSeen({ floorNs, updates }: SeenUpdates): Uint8Array {
  const builder = new Builder(64);
  const senders = [...new Set(updates.map(({ sender }) => sender))];
  const names = senders.map((sender) => builder.createString(sender));
  const sendersAt = SeenRecord.createSenderVector(builder, names);
  const column = (of: (update: SeenUpdates['updates'][number]) => number) => updates.map(of);
  const columnsAt = [
    SeenRecord.createHashKeyVector(
      builder,
      column(({ hashKey }) => hashKey),
    ),
    SeenRecord.createSecondVector(
      builder,
      column(({ second }) => second),
    ),
    SeenRecord.createNanosVector(
      builder,
      column(({ nanos }) => nanos),
    ),
    SeenRecord.createSenderIndexVector(
      builder,
      column(({ sender }) => senders.indexOf(sender)),
    ),
  ] as const;
  builder.finishSizePrefixed(SeenRecord.createSeenRecord(builder, floorNs, sendersAt, ...columnsAt));
  return builder.asUint8Array();
}
