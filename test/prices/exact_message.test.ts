import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { test } from 'tap';
import { createHeldBytes } from '../../scripts/load/held_memory.js';
import { publishMessage } from '../../src/client/index.js';
import { Gate } from '../../src/prices/gate.js';
import { type PublishMessage, type ReadMessage, readPublishMessage } from '../../src/prices/message.js';
import { FakeClock } from '../clock/fake_clock.js';
import { sampleAsset, samplePublisher } from '../model/sample.js';
import { readRecordings, skip } from '../service/recordings.js';
import { cases } from '../tier.js';
import { messageText, updateObject } from './updates.js';

// Tests that the reader with JSON.parse reads the same as the parser that keeps every digit, which reads messages with an escaped key.

const UPDATES_MAX = 4;

/** Reads a message twice, the second time with the parser that keeps every digit. @returns the updates; `undefined` after a difference */
function readBoth(text: string, updatesMax = UPDATES_MAX): number | undefined {
  const escaped = text.replace('{', '{"\\u0065":0,');
  const quick = readPublishMessage(text, updatesMax);
  const exact = readPublishMessage(escaped, updatesMax);
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

const space = fc.oneof(
  { weight: 20, arbitrary: fc.constant('') },
  { weight: 5, arbitrary: fc.constantFrom(' ', '\n  ', '\t', '\r\n') },
);
/** The characters between the quotation marks of a string. */
const plain = fc.oneof(
  fc.constantFrom('', 'evm', '0x00ff', ':', ' :', 'a:b', 'x,{[', "'", 'timestamp', '-0', '\u007f'),
  fc.string({ unit: 'grapheme-ascii', maxLength: 20 }).map((text) => text.replace(/["\\]/g, '')),
);
const foreign = fc.constantFrom(
  '\\"',
  '\\u0041',
  '\\',
  '\u0000',
  '\n',
  '\u00e9',
  '\u0122',
  '\ud800',
  '"',
  '","r":"',
);
const digits = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 70n }).map(String),
  fc.constantFrom('0', '9'.repeat(60)),
);
const foreignValue = fc.constantFrom('-0', '01', '1e5', '1.0', '-7', 'null', '[]', '{}', '1 2', '');
const foreignKey = fc.constantFrom(
  'r',
  'timestamp',
  'x',
  'metadata',
  '__proto__',
  'pric',
  'price2',
  '12',
  'A',
);

/** Generates messages, some of which have other keys, strings and values than a publisher writes. */
function messages(): fc.Arbitrary<string> {
  const rarely = <T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>) =>
    fc.oneof({ weight: 60, arbitrary: usual }, { weight: 1, arbitrary: other });
  const text = rarely(plain, foreign).map((content) => `"${content}"`);
  const string = rarely(text, foreignValue);
  const entry = (key: string, value: fc.Arbitrary<string>) =>
    fc
      .tuple(space, rarely(fc.constant(key), foreignKey), space, space, value, space)
      .map(([a, name, b, c, content, d]) => `${a}"${name}"${b}:${c}${content}${d}`);
  const object = (required: fc.Arbitrary<string>[], optional: fc.Arbitrary<string>[] = []) =>
    fc
      .tuple(fc.tuple(...required), fc.tuple(...optional), fc.infiniteStream(fc.nat(999)), fc.nat(1))
      .map(([all, some, random, isShuffled]) => {
        const kept = some.filter(() => random.next().value! % 2 === 0);
        const entries = [...all, ...kept].map((content) => ({ content, rank: random.next().value! }));
        if (isShuffled === 1) entries.sort((a, b) => a.rank - b.rank);
        return `{${entries.map(({ content }) => content).join()}}`;
      });
  const signature = object([entry('r', string), entry('s', string)], [entry('v', string)]);
  const stamped = object([
    entry('signature', signature),
    entry('timestamp', rarely(fc.oneof(digits, text), foreignValue)),
    entry('msg_hash', string),
  ]);
  const signed = object(
    ['publisher_key', 'external_asset_id', 'signature_type', 'price']
      .map((key) => entry(key, string))
      .concat(entry('timestamped_signature', stamped)),
  );
  const update = object(
    [entry('asset_id', string), entry('signed_price', signed)],
    [entry('oracle_id', string), entry('trigger', string)],
  );
  const symbol = fc.constantFrom('BTCUSD', 'A', '1INCH', 'a:b', 'POSITIVE_ASSET_1', '', 'constructor', ' :');
  const data = fc
    .uniqueArray(symbol, { minLength: 1, maxLength: UPDATES_MAX })
    .chain((symbols) => object(symbols.map((name) => entry(name, update))));
  return fc
    .tuple(
      object(
        [entry('type', rarely(fc.constant('"signed_prices"'), string)), entry('data', data)],
        [entry('trace_id', string)],
      ),
      space,
      space,
    )
    .map(([content, a, b]) => a + content + b);
}

test('any message, whole and damaged', async () => {
  const edits = fc.array(
    fc.tuple(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.oneof(foreign, foreignValue, fc.constantFrom('"', ':', ',', '{', '}', ' ', '0', '\\', '\u0001')),
      fc.nat(2),
    ),
    { maxLength: 2 },
  );
  fc.assert(
    fc.property(messages(), edits, (whole, changes) => {
      const text = changes.reduce((now, [share, insert, drop]) => {
        const at = Math.floor(share * now.length);
        return now.slice(0, at) + insert + now.slice(at + drop);
      }, whole);
      return readBoth(text) !== undefined;
    }),
    { numRuns: cases(10_000) },
  );
});

test('a trace ID, a symbol and the key of a publisher do not keep their message in memory', async (t) => {
  const heldBytes = createHeldBytes();
  const length = 1_000_000;
  const allowList = { findAsset: () => sampleAsset(), publisherByKey: () => samplePublisher() };
  const window = { maxPastNs: 0n, maxFutureNs: 0n, maxBackwardNs: 0n };
  const gate = new Gate(allowList, new FakeClock(), window);
  const rights = { identity: 'alice', mayPublishAs: () => true, maySee: () => true };
  const kept: (string | undefined)[] = [];
  const keep = ({ traceId, updates: [update] }: ReadMessage) => {
    kept.push(traceId, update!.symbol);
    gate.admit({ ...update!, symbol: 'BTCUSD' }, 'evm', rights);
  };
  const textOf = (i: number) => {
    const update = updateObject('BTCUSD');
    update.signed_price.publisher_key = `0x${i.toString().padStart(40, '0')}`;
    const envelope = { type: 'signed_prices', trace_id: 'a trace ID of 30 characters..' };
    return messageText({ [`A_LONG_SYMBOL_${i}`]: update }, envelope).padEnd(length);
  };
  const before = heldBytes();
  for (let i = 0; i < 10; i++) keep(readPublishMessage(textOf(i), 1) as ReadMessage);
  const grown = heldBytes() - before;
  t.equal(kept.length, 20);
  t.ok(grown < 4 * length, `${grown} bytes`);
});

test('the texts of an update that is read exactly do not keep their message in memory', async (t) => {
  const heldBytes = createHeldBytes();
  const length = 100_000;
  const kept: unknown[] = [];
  const before = heldBytes();
  for (let i = 0; i < 50; i++) {
    const update = updateObject('BTCUSD');
    update.signed_price.metadata = { n: '#12345678901234567890' };
    update.signed_price.timestamped_signature.msg_hash = `0x${i.toString(16).padStart(64, '0')}`;
    const { updates } = readPublishMessage(messageText({ BTCUSD: update }).padEnd(length), 1) as ReadMessage;
    kept.push(updates[0]!.msgHash);
  }
  const grown = heldBytes() - before;
  t.equal(kept.length, 50);
  t.ok(grown < 20 * length, `${grown} bytes`);
});
