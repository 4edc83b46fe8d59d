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
  t.same(parseExactJson('{"\\u0001a":"\\u00015","b":"\\u0001\\u0001","c" : 5}'), {
    '\u0001a': '\u00015',
    b: '\u0001\u0001',
    c: 5n,
  });
});

test('what is no JSON is no value', async (t) => {
  const texts = [
    '',
    '01',
    '1.',
    '.5',
    '+1',
    '-',
    '1 2',
    '1"a"',
    '"a"1',
    'true1',
    '{"a":1,}',
    '[1',
    'NaN',
    '1e',
    '"\u0001"',
  ];
  for (const text of texts) t.equal(parseExactJson(text), undefined, text);
});

test('long texts are read, whatever quotes and backslashes they have', async (t) => {
  // With quadratic time, this test would take days. In an earlier version 80 kB of the first text took half a minute.
  const hostile: readonly (readonly [name: string, text: (length: number) => string])[] = [
    ['escaped quotes outside of a string', (length) => '\\"'.repeat(length / 2)],
    ['quotes', (length) => '"'.repeat(length)],
    ['a string that ends in a backslash', (length) => `"${'\\'.repeat(length + 1)}`],
    ['a backslash before each line break', (length) => '"\\\n'.repeat(length / 3)],
    ['opened arrays', (length) => '['.repeat(length)],
    ['empty strings', (length) => '"" '.repeat(length / 3)],
    ['spaces behind a string', (length) => `["a"${' '.repeat(length)}`],
  ];
  const wrong: string[] = [];
  for (const [name, text] of hostile) {
    for (let length = 2 ** 15; length <= 2 ** 19; length *= 2)
      if (parseExactJson(text(length)) !== undefined) wrong.push(name);
  }
  t.same(wrong, []);
  const long = 'x"\\\u0001'.repeat(2 ** 18);
  t.equal(parseExactJson(JSON.stringify(long)), long, 'a long string is no fault');
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

test('numbers of any form keep their digits', async () => {
  const form = fc.stringMatching(/^-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?$/);
  fc.assert(
    fc.property(fc.array(form), (forms) => {
      const read = `[${forms.join()}]`;
      const isSame =
        writeExactJson(parseExactJson(read) as object) === read.replace(/(?<=[[,])-0(?=[\],])/g, '0');
      return isSame;
    }),
  );
});
