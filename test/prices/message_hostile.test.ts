import fc from 'fast-check';
import { parse as parseLossless, stringify as stringifyLossless } from 'lossless-json';
import { test } from 'tap';
import { readPublishMessage } from '../../src/prices/message.js';
import { cases } from '../tier.js';
import { messageText, updateObject } from './updates.js';

/**
 * The longest time for which a message may block the event loop: the shortest processor time of several runs. An idle machine
 * takes 14 ms. Work of quadratic time takes seconds, a clear difference even on a busy machine.
 */
const HOSTILE_MS_MAX = 200;
const RUNS = 5;
/** A MiB minus the size of the text around the data. Longer messages are refused before they are read. */
const MEBIBYTE = 2 ** 20 - 2_048;

function withMetadata(json: string, envelope?: object): string {
  const update = updateObject('BTCUSD');
  update.signed_price.metadata = '@';
  return messageText({ BTCUSD: update }, envelope).replace('"@"', () => json);
}

test('hostile messages get an answer, and soon', async (t) => {
  const deep = 30_000;
  const messages = {
    'arrays 500,000 deep': '['.repeat(500_000) + ']'.repeat(500_000),
    'as deep as the containers allow': '['.repeat(8_000) + ']'.repeat(8_000),
    'as many keys as the commas allow': withMetadata(
      `{${Array.from({ length: 17_900 }, (_, i) => `"k${i}":"${'v'.repeat(40)}"`).join()}}`,
    ),
    'as much as is read exactly': withMetadata(
      `{${Array.from({ length: 3_900 }, (_, i) => `"k${i}":${i + 1e14}`).join()},"n":"${'\\ud800'.repeat(5_000)}"}`,
    ),
    'strings full of keys': withMetadata(`{"k":"${'\\":'.repeat(MEBIBYTE / 4)}"}`),
    'arrays 30,000 deep': '['.repeat(deep) + ']'.repeat(deep),
    'objects 30,000 deep in metadata': withMetadata(`${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`),
    'arrays 30,000 deep in metadata': withMetadata(`{"a":${'['.repeat(deep)}${']'.repeat(deep)}}`),
    'depth that the exact parser meets': withMetadata('{"n":1}').replace(
      '"oracle_id"',
      `"x":${'['.repeat(deep)}${']'.repeat(deep)},"oracle_id"`,
    ),
    'unclosed depth': `{"data":${'['.repeat(deep)}`,
    'a mebibyte of digits in metadata': withMetadata(`{"n":${'7'.repeat(MEBIBYTE)}}`),
    'a mebibyte of digits as timestamp': messageText({ BTCUSD: updateObject('BTCUSD') }).replace(
      '"1772460000000000001"',
      '7'.repeat(MEBIBYTE),
    ),
    'a mebibyte of digits and no end': `{"timestamp":${'7'.repeat(MEBIBYTE)}`,
    'a mebibyte of spaces behind a timestamp': `{"timestamp":1${' '.repeat(MEBIBYTE)}x`,
    'a mebibyte of spaces before a colon': `{"timestamp"${' '.repeat(MEBIBYTE)}x`,
    'many timestamps, each with spaces': `{${'"timestamp"   '.repeat(Math.floor(MEBIBYTE / 16))}}`,
    'many keys': withMetadata(`{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":${i}`).join()}}`),
    'one key many times': withMetadata(`{${'"k":1,"k":2,'.repeat(50_000)}"k":3}`),
    'many backslashes': withMetadata(`{"k":"${'\\\\'.repeat(MEBIBYTE / 2)}","n":1}`),
    'numbers without measure': withMetadata(`{"n":[1e400,-1e-400,1e99999999999,${'9'.repeat(400)}.5]}`),
  };
  for (const [name, text] of Object.entries(messages)) {
    let tookMs = Number.POSITIVE_INFINITY;
    let message = readPublishMessage(text, 1000);
    for (let run = 0; run < RUNS; run++) {
      const start = process.cpuUsage();
      message = readPublishMessage(text, 1000);
      const { user, system } = process.cpuUsage(start);
      tookMs = Math.min(tookMs, (user + system) / 1_000);
    }
    t.ok(tookMs < HOSTILE_MS_MAX, `${name} took ${tookMs.toFixed(1)} ms`);
    if (!message.ok) t.ok(message.error.length < 300, message.error);
  }
});

const digits = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.constantFrom('1e400', '1.10', '-0', '0.0', '1E+2', '12345678901234567890.1234567890'),
);
const key = fc.oneof(
  fc.constantFrom('timestamp', 'x"timestamp', 'timestamp"', '__proto__', 'a', 'metadata', ''),
  fc.string({ unit: 'binary', maxLength: 4 }),
);
const text = fc.oneof(
  fc.constantFrom('"timestamp": 1,', '"timestamp":2}', '\\"timestamp":3}', '\ud800', '5'),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
/** Generates JSON text, with some numbers that no double can represent. */
const { value: jsonText } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    digits,
    text.map((value) => JSON.stringify(value)),
    fc.constantFrom('true', 'false', 'null'),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    tie('object'),
  ),
  object: fc
    .uniqueArray(fc.tuple(key, tie('value')), { maxLength: 4, selector: ([name]) => name })
    .map((entries) => `{${entries.map(([name, value]) => `${JSON.stringify(name)} :${value}`).join(',')}}`),
}));
const objectText = fc
  .uniqueArray(fc.tuple(key, jsonText), { maxLength: 4, selector: ([name]) => name })
  .map((entries) => `{${entries.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join()}}`);

test('metadata and timestamps are what a parser that keeps every digit says', async () => {
  const timestamp = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
  fc.assert(
    fc.property(objectText, timestamp, fc.boolean(), (json, timestampNs, quoted) => {
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
