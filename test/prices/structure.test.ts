import fc from 'fast-check';
import { test } from 'tap';
import { readPublishMessage } from '../../src/prices/message.js';
import { countKeys, DEPTH_MAX, excessOf, hasEscapedKey, mayRepeatKeys } from '../../src/prices/structure.js';

const PADDING = ' '.repeat(16 * 1024);

test('a long message holds objects, arrays and commas up to the limits and no more', async (t) => {
  t.equal(excessOf(PADDING + '{['.repeat(40), 10), undefined);
  t.equal(excessOf(`${PADDING}${'{['.repeat(40)}[`, 10), 'the message holds more than 80 objects and arrays');
  t.equal(excessOf(PADDING + ','.repeat(180), 10), undefined);
  t.equal(excessOf(PADDING + ','.repeat(181), 10), 'the message holds more than 180 commas');
  t.equal(excessOf('['.repeat(16 * 1024), 10), undefined, 'a short one is not looked at');
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
/** Values of JSON, some with keys that are written with an escape. */
const value = fc.anything({
  key,
  values: [key, fc.double({ noNaN: true, noDefaultInfinity: true })],
  maxDepth: 4,
  maxKeys: 4,
});

function keysOf(json: unknown): string[] {
  if (typeof json !== 'object' || json === null) return [];
  const own = Array.isArray(json) ? [] : Object.keys(json);
  return [...own, ...Object.values(json).flatMap(keysOf)];
}

test('no key comes twice unseen, and all keys are counted', async () => {
  fc.assert(
    fc.property(value, key, value, value, space, (json, name, first, second, gap) => {
      const text = JSON.stringify(json, null, gap);
      // `JSON.parse` may read these wrongly.
      if (!hasEscapedKey(text) && countKeys(JSON.parse(text)) !== keysOf(json).length) return false;
      const [one, other] = [first, second].map((each) => JSON.stringify(each));
      const repeated = `{${JSON.stringify(name)}${gap}:${one},"x":${text},${JSON.stringify(name)}:${other}}`;
      return hasEscapedKey(repeated) || mayRepeatKeys(repeated, countKeys(JSON.parse(repeated))!);
    }),
    { numRuns: 1_000 },
  );
});
