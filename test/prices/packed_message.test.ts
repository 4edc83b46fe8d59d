import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { test } from 'tap';
import type { RawUpdate, ReadMessage } from '../../src/prices/message.js';
import { packMessage, unpackForeignMessage, unpackMessage } from '../../src/prices/packed_message.js';
import { cases } from '../tier.js';

/** The option for objects with the usual prototype, because the code makes such objects. */
const PLAIN = { noNullPrototype: true } as const;
const text = fc.string({ unit: 'binary', maxLength: 80 });
const optional = fc.option(text, { nil: undefined });
const TEXTS = [
  ...['symbol', 'assetId', 'publisherKey', 'externalAssetId', 'signatureType'],
  ...['price', 'timestamp', 'r', 's', 'msgHash'],
];
const update = fc.record(
  { ...Object.fromEntries(TEXTS.map((name) => [name, text])), v: optional, metadata: optional },
  PLAIN,
) as fc.Arbitrary<RawUpdate>;
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
    { numRuns: cases(500) },
  );
});

const RAW = ['A', 'A', '0x1', 'A', 'evm', '1', '2', '0x3', '0x4', '0x1b', '0x5', null];

/** Returns the metadata or the refusals of a message of another machine. */
function foreign(content: unknown) {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const { updates, malformed } = unpackForeignMessage({ traceId: 'a', length: 3, content: text }, true);
  return malformed.size > 0 ? [...malformed.keys()] : updates.map(({ metadata }) => metadata);
}

test('metadata of another machine is parsed before it goes into an answer', async (t) => {
  const withMetadata = (metadata: unknown) => foreign([[], [[...RAW.slice(0, 11), metadata]]]);
  const honest = ['null', '{"a":[1.50,"x"],"b":{"timestamp":"1"}}', '{"n":123456789012345678901}', null];
  for (const metadata of honest) t.same(withMetadata(metadata), [metadata ?? undefined], String(metadata));
  t.same(withMetadata('{ "a": 1 }'), ['{"a":1}'], 'the parsed value is written, and not the text');
  const hostile = [
    '{}}],"price":"1',
    '[]',
    '{"a":1,"a":2}',
    '',
    `{"a":${'['.repeat(17)}${']'.repeat(17)}}`,
    `{"a":"${'x'.repeat(4_096)}"}`,
    `{"a":[${'0,'.repeat(300)}0]}`,
    5,
    {},
  ];
  for (const metadata of hostile)
    t.same(withMetadata(metadata), ['A'], JSON.stringify(metadata).slice(0, 40));
});

test('content of another machine of any form does no harm', async (t) => {
  t.same(foreign([[['B', 'bad']], [RAW]]), ['B']);
  for (const at of RAW.keys()) {
    const without = (value: unknown) => [[], [RAW.map((text, i) => (i === at ? value : text))]];
    t.match(foreign(without(7)), [at === 0 ? '' : 'A']);
    if (at !== 9 && at !== 11) t.match(foreign(without(null)), [at === 0 ? '' : 'A']);
  }
  for (const content of ['no JSON', 'null', '{}', '[]', '[[],[null]]', '[[1],[]]', '[[["a"]],[]]'])
    t.same(foreign(content), [''], content);
});
