import fc from 'fast-check';
import { test } from 'tap';
import { readRequestId } from '../../src/stream/request_id.js';
import { REQUEST_ID_LENGTH_MAX } from '../../src/wire/stream.js';

function idOf(text: string): string | undefined {
  return readRequestId((JSON.parse(text) as { readonly id: unknown }).id, text);
}

const number = fc.stringMatching(/^-?(0|[19]\d{0,20})(\.\d{1,20})?(e3|E-7|e\+400)?$/);
/** Properties of a message that a careless parser would mistake for the ID. */
const decoy = fc.oneof(
  fc.constantFrom(
    '"a":{"id":5}',
    '"a":[{"id":5}]',
    '"a":"id"',
    '"a":"\\"id\\":5"',
    '"x\\"id":5',
    '"id":"first"',
    '"id":7',
    '"\\u0069d":8',
    '"ID":9',
    '"a":"\\\\"',
    '"a":"}]"',
  ),
  fc
    .tuple(fc.string(), fc.jsonValue())
    .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`),
);
const key = fc.constantFrom('"id"', '"\\u0069d"', '"i\\u0064"');
const space = fc.stringMatching(/^[ \n\t\r]{0,2}$/);

test('a number is the text that came, wherever it stands', async (t) => {
  const message = fc.record({
    before: fc.array(decoy, { maxLength: 3 }),
    after: fc.array(
      decoy.filter((one) => !/^"(?:id|\\u0069d)"/.test(one)),
      { maxLength: 3 },
    ),
    key,
    number,
    spaces: fc.tuple(space, space, space),
  });
  fc.assert(
    fc.property(message, ({ before, after, key: name, number: text, spaces: [a, b, c] }) => {
      const member = `${a}${name}${b}:${c}${text}${a}`;
      t.equal(idOf(`{${[...before, member, ...after].join()}}`), text);
    }),
    { numRuns: 2_000 },
  );
});

test('a string has at most 256 characters, however many bytes they take; so has a number', async (t) => {
  const withId = (id: unknown) => idOf(JSON.stringify({ id }));
  t.equal(withId('\u{1f600}'.repeat(REQUEST_ID_LENGTH_MAX))?.length, 2 * REQUEST_ID_LENGTH_MAX + 2);
  t.equal(withId('\u{1f600}'.repeat(REQUEST_ID_LENGTH_MAX + 1)), undefined);
  t.equal(idOf(`{"id":${'9'.repeat(REQUEST_ID_LENGTH_MAX)}}`)?.length, REQUEST_ID_LENGTH_MAX);
  t.equal(idOf(`{"id":${'9'.repeat(REQUEST_ID_LENGTH_MAX + 1)}}`), undefined);
  for (const id of [null, true, {}, []]) t.equal(withId(id), undefined);
});
