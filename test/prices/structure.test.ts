import fc from 'fast-check';
import { test } from 'tap';
import { countKeys, excessOf, hasEscapedKey, mayRepeatKeys } from '../../src/prices/structure.js';

const PADDING = ' '.repeat(16 * 1024);

test('a long message holds objects, arrays and commas up to the limits and no more', async (t) => {
  t.equal(excessOf(PADDING + '{['.repeat(40), 10), undefined);
  t.equal(excessOf(`${PADDING}${'{['.repeat(40)}[`, 10), 'the message holds more than 80 objects and arrays');
  t.equal(excessOf(PADDING + ','.repeat(181), 10), 'the message holds more than 180 commas');
  t.equal(excessOf('['.repeat(16 * 1024), 10), undefined, 'a short one is not looked at');
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
