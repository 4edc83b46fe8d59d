import fc from 'fast-check';
import { parse, stringify } from 'lossless-json';
import { test } from 'tap';
import { ExactNumber, parseExactJson, writeExactJson } from '../../../src/client/verify/exact_json.js';

// Tests of the reader and writer of exact JSON. JSON.parse, JSON.stringify and lossless-json are the reference.

test('integers are bigints, other numbers keep their text', async (t) => {
  t.same(parseExactJson('{"a":[1757543080505451010,-0,0.10,1E2,"5"],"7":null}'), {
    a: [1757543080505451010n, 0n, new ExactNumber('0.10'), new ExactNumber('1E2'), '5'],
    '7': null,
  });
  t.equal(String(parseExactJson('0.10')), '0.10');
  t.equal(
    writeExactJson({ a: 1757543080505451010n, b: new ExactNumber('0.10'), c: 1.5, d: undefined }),
    '{"a":1757543080505451010,"b":0.10,"c":1.5}',
  );
});

test('what is no JSON is no value', async (t) => {
  for (const text of ['', '01', '1.', '.5', '+1', '1 2', '"a"1', '{"a":1,}', '[1', 'NaN', '1e', '"\u0001"'])
    t.equal(parseExactJson(text), undefined, text);
});

test('any value is written and read as by lossless-json', async () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.bigInt(),
      fc.boolean(),
      fc.constant(null),
      text,
      fc.array(tie('any')),
      fc.dictionary(
        text.filter((key) => key !== '__proto__'),
        tie('any'),
      ),
    ),
  })).any;
  fc.assert(
    fc.property(fc.array(value), (written) => {
      const exact = writeExactJson(written);
      return exact === stringify(written) && stringify(parseExactJson(exact)) === stringify(parse(exact));
    }),
    { numRuns: 500 },
  );
});

/** Texts with parts that look like a number, a mark or the end of a string. */
const text = fc.oneof(
  fc.string(),
  fc
    .array(fc.constantFrom('\u0001', '"', '\\', ':', '5', '-1.5e3', 'u0001', ' ', '\n', 'é'))
    .map((parts) => parts.join('')),
);
