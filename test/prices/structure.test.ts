import fc from 'fast-check';
import { test } from 'tap';
import { readPublishMessage } from '../../src/prices/message.js';
import {
  countKeys,
  DEPTH_MAX,
  exactExcessOf,
  excessOf,
  hasEscapedKey,
  mayRepeatKeys,
} from '../../src/prices/structure.js';

const PADDING = ' '.repeat(16 * 1024);

test('a long message holds objects, arrays and commas up to the limits and no more', async (t) => {
  t.equal(excessOf(PADDING + '{['.repeat(40), 10), undefined);
  t.equal(excessOf(`${PADDING}${'{['.repeat(40)}[`, 10), 'the message holds more than 80 objects and arrays');
  t.equal(excessOf(PADDING + ','.repeat(180), 10), undefined);
  t.equal(excessOf(PADDING + ','.repeat(181), 10), 'the message holds more than 180 commas');
  t.equal(excessOf('['.repeat(16 * 1024), 10), undefined, 'a short one is not looked at');
});

test('the parser that keeps every digit is kept for what it reads soon', async (t) => {
  t.equal(exactExcessOf(','.repeat(4_000) + ' '.repeat(128 * 1024 - 4_000)), undefined);
  t.match(exactExcessOf(' '.repeat(128 * 1024 + 1)), /131072 characters/);
  t.match(exactExcessOf(','.repeat(4_001)), /4000 commas/);
});

test('keys are counted to a depth', async (t) => {
  const nested = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) as unknown;
  t.equal(countKeys(nested(DEPTH_MAX)), DEPTH_MAX);
  t.equal(countKeys(nested(DEPTH_MAX + 1)), undefined);
  t.equal(countKeys(JSON.parse('{"__proto__":{"a":1},"b":[{"c":1},[{"d":2}]]}')), 5);
  const deep = `{"type":"signed_prices","x":${'['.repeat(5_000)}${']'.repeat(5_000)},"data":{}}`;
  t.match(readPublishMessage(deep, 1000), { ok: false, error: `the message nests deeper than ${DEPTH_MAX}` });
});

const key = fc.oneof(
  fc.constantFrom('a', '__proto__', 'a":', ':', '\\', '"', ''),
  fc.string({ maxLength: 3 }),
);
const space = fc.constantFrom('', ' ', '\n\t');
/** Generates JSON text that may have spaces anywhere, with the number of its keys and a flag for keys with an escape. */
const { value: json } = fc.letrec<{
  value: { text: string; keys: number; isEscaped: boolean };
}>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(key, fc.double({ noNaN: true, noDefaultInfinity: true })).map((leaf) => ({
      text: JSON.stringify(leaf),
      keys: 0,
      isEscaped: false,
    })),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => ({
      text: `[${items.map(({ text }) => text).join()}]`,
      keys: items.reduce((sum, { keys }) => sum + keys, 0),
      isEscaped: items.some(({ isEscaped }) => isEscaped),
    })),
    fc
      .uniqueArray(fc.tuple(key, tie('value'), space, space), { maxLength: 4, selector: ([name]) => name })
      .map((entries) => ({
        text: `{${entries.map(([name, { text }, a, b]) => `${JSON.stringify(name)}${a}:${b}${text}`).join()}}`,
        keys: entries.reduce((sum, [, { keys }]) => sum + keys + 1, 0),
        isEscaped: entries.some(([name, { isEscaped }]) => isEscaped || JSON.stringify(name).includes('\\')),
      })),
  ),
}));

test('no key comes twice unseen, and all keys are counted', async () => {
  fc.assert(
    fc.property(json, key, json, json, space, ({ text, keys }, name, first, second, gap) => {
      // `JSON.parse` may read these wrongly.
      if (!hasEscapedKey(text) && countKeys(JSON.parse(text)) !== keys) return false;
      const repeated = `{${JSON.stringify(name)}${gap}:${first.text},"x":${text},${JSON.stringify(name)}:${second.text}}`;
      return hasEscapedKey(repeated) || mayRepeatKeys(repeated, countKeys(JSON.parse(repeated))!);
    }),
    { numRuns: 1_000 },
  );
});

test('a key that is written with an escape is found, and no other string', async () => {
  fc.assert(
    fc.property(json, ({ text, isEscaped }) => hasEscapedKey(text) === isEscaped),
    { numRuns: 1_000 },
  );
});
