import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { test } from 'tap';
import type { RawUpdate, ReadMessage } from '../../src/ingest/message.js';
import { packMessage, unpackMessage } from '../../src/ingest/packed_message.js';

/** The option for objects with the usual prototype, because the code makes such objects. */
const PLAIN = { noNullPrototype: true } as const;
const text = fc.string({ unit: 'binary', maxLength: 80 });
const optional = fc.option(text, { nil: undefined });
const update: fc.Arbitrary<RawUpdate> = fc.record(
  {
    symbol: text,
    assetId: text,
    publisherKey: text,
    externalAssetId: text,
    signatureType: text,
    price: text,
    timestamp: text,
    r: text,
    s: text,
    v: optional,
    msgHash: text,
    metadata: optional,
  },
  PLAIN,
);
const message: fc.Arbitrary<ReadMessage> = fc.record(
  {
    ok: fc.constant(true as const),
    traceId: optional,
    length: fc.nat(),
    malformed: fc.array(fc.tuple(text, text)).map((pairs) => new Map(pairs)),
    updates: fc.array(update, { maxLength: 10 }),
  },
  PLAIN,
);

test('a packed message is the same after its way to another thread', async () => {
  fc.assert(
    fc.property(message, (before) => {
      const { ok, traceId, length, malformed, updates } = unpackMessage(structuredClone(packMessage(before)));
      return isDeepStrictEqual({ ok, traceId, length, malformed, updates }, before);
    }),
    { numRuns: 500 },
  );
});

test('a message that nobody looks into is not read', async (t) => {
  const packed = { traceId: 'a', length: 3, content: 'no JSON' };
  const message = unpackMessage(packed);
  t.same([message.traceId, message.length], ['a', 3]);
  t.throws(() => message.updates, SyntaxError);
});
