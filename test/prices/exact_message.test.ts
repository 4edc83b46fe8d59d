import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { parse as parseLossless, stringify as stringifyLossless } from 'lossless-json';
import { test } from 'tap';
import { publishMessage } from '../../src/client/index.js';
import { type PublishMessage, readPublishMessage } from '../../src/prices/message.js';
import { readRecordings, skip } from '../service/recordings.js';
import { cases } from '../tier.js';
import { messageText, updateObject } from './updates.js';

// Tests that the reader with JSON.parse reads the same as the parser that keeps every digit, which reads messages with an escaped key.

const UPDATES_MAX = 4;

/** Reads a message twice, the second time with the parser that keeps every digit. @returns the updates; `undefined` after a difference */
function readBoth(text: string): number | undefined {
  const escaped = text.replace('{', '{"\\u0065":0,');
  const quick = readPublishMessage(text, UPDATES_MAX);
  const exact = readPublishMessage(escaped, UPDATES_MAX);
  if (!isDeepStrictEqual(resultOf(quick), resultOf(exact))) return undefined;
  return quick.ok ? quick.updates.length : 0;
}

/** Returns the parts of a message that do not depend on the parser's error texts and on the length of the text. */
function resultOf(message: PublishMessage): unknown {
  if (!message.ok) return message.traceId;
  const { length: _, ...read } = message;
  return read;
}

test('recorded updates', { skip }, async (t) => {
  for (const name of ['recorded-evm.json', 'recorded-evm-four-publishers.json', 'recorded-stark.json'])
    for (const { updates } of readRecordings(name))
      for (const update of updates) t.equal(readBoth(publishMessage('t', [update])), 1, name);
});

const digits = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.constantFrom('1e400', '1.10', '-0', '0.0', '1E+2', '12345678901234567890.1234567890'),
);
/** Keys and strings that look like parts of a message. */
const text = fc.oneof(
  fc.constantFrom(
    'timestamp',
    'x"timestamp',
    '"timestamp": 1,',
    '\\"timestamp":3}',
    '__proto__',
    'metadata',
    '',
    '\ud800',
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
/** Generates JSON text, with some numbers that no double can represent. */
const { object } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    digits,
    text.map((value) => JSON.stringify(value)),
    fc.constantFrom('true', 'false', 'null'),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    tie('object'),
  ),
  object: fc
    .uniqueArray(fc.tuple(text, tie('value')), { maxLength: 4, selector: ([name]) => name })
    .map((entries) => `{${entries.map(([name, value]) => `${JSON.stringify(name)} :${value}`).join(',')}}`),
}));

test('metadata and timestamps are what a parser that keeps every digit says', async () => {
  const timestamp = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
  fc.assert(
    fc.property(object, timestamp, fc.boolean(), (json, timestampNs, quoted) => {
      const update = updateObject('BTCUSD');
      update.signed_price.metadata = '@';
      update.signed_price.timestamped_signature.timestamp = quoted ? `${timestampNs}` : `#${timestampNs}`;
      const message = readPublishMessage(
        messageText({ BTCUSD: update }).replace('"@"', () => json),
        10,
      );
      if (!message.ok || message.updates.length !== 1) return false;
      const [read] = message.updates;
      return (
        read!.timestamp === `${timestampNs}` && read!.metadata === stringifyLossless(parseLossless(json))
      );
    }),
    { numRuns: cases(400) },
  );
});

const symbol = fc.constantFrom('BTCUSD', '1INCH', 'a:b', '', 'constructor', '__proto__', ' :');
/** Generates messages of valid updates, some with spaces between the keys and values. */
const messages = fc
  .tuple(
    fc.uniqueArray(symbol, { minLength: 1, maxLength: UPDATES_MAX }),
    fc.option(object, { nil: '{}' }),
    fc.constantFrom('', ' ', '\n  ', '\t', '\r\n'),
    fc.boolean(),
  )
  .map(([symbols, metadata, space, quoted]) => {
    const updates = symbols.map((name) => {
      const update = updateObject(name);
      update.signed_price.metadata = '@';
      if (!quoted) update.signed_price.timestamped_signature.timestamp = '#1772460000000000001';
      return [name, update] as const;
    });
    return messageText(Object.fromEntries(updates))
      .replaceAll(/[,:{}]/g, (mark) => space + mark + space)
      .replaceAll('"@"', () => metadata);
  });
/** Texts that damage a message, or that a parser may read in another way. */
const inserted = fc.constantFrom(
  ...'\\" \\u0041 \\ \u0000 \n é \ud800 " ","r":" : , { } 0 -0 01 1e5 1.0 null [] {} "timestamp": "__proto__":1,'.split(
    ' ',
  ),
  ' ',
);

test('any message, whole and damaged', async () => {
  const edits = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), inserted, fc.nat(2)), {
    maxLength: 2,
  });
  fc.assert(
    fc.property(messages, edits, (whole, changes) => {
      const text = changes.reduce((now, [share, insert, drop]) => {
        const at = Math.floor(share * now.length);
        return now.slice(0, at) + insert + now.slice(at + drop);
      }, whole);
      return readBoth(text) !== undefined;
    }),
    { numRuns: cases(10_000) },
  );
});
