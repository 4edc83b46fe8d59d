import fc from 'fast-check';
import { test } from 'tap';
import { packedWord, packText, unpackText } from '../../src/records/packed_text.js';

test('every text reads back as the same characters', async (t) => {
  for (const text of [
    '',
    '0x',
    '0x0',
    '0x00',
    '0xabc',
    '0xABC',
    '0xaBc',
    '0X12',
    'abc',
    '{"a":"\u0000é€😀"}',
  ])
    t.equal(unpackText(packText(text)), text);
  const hex = fc
    .string({ unit: fc.constantFrom(...'0123456789abcdefABCDEFx') })
    .map((digits) => `0x${digits}`);
  fc.assert(
    fc.property(
      fc.oneof(hex, fc.string({ unit: 'grapheme' })),
      (text) => unpackText(packText(text)) === text,
    ),
  );
});

test('lower-case hex takes half the bytes', async (t) => {
  t.equal(packText(`0x${'1f'.repeat(32)}`).length, 33);
  t.equal(packText(`0x${'1'.repeat(63)}`).length, 33);
});

test('a packed number has the bytes of its two usual texts, and no other text is such a number', async (t) => {
  const wordOf = (text: string) => {
    const isFull = /^0x[0-9a-f]{64}$/.test(text);
    if (!isFull && !/^0x(?:0|[1-9a-f][0-9a-f]{0,62})$/.test(text)) return undefined;
    return { hex: text.slice(2).padStart(64, '0'), isShort: !isFull };
  };
  const packed = (text: string) => {
    const word = packedWord(packText(text));
    return word && { hex: Buffer.from(word.bytes).toString('hex'), isShort: word.isShort };
  };
  for (const text of [
    '',
    '0x',
    '0x0',
    '0x00',
    '0x01',
    '0x1',
    '0x012',
    '0x12',
    'x'.repeat(32),
    'x'.repeat(33),
  ])
    t.same(packed(text), wordOf(text), text);
  for (const length of [62, 63, 64, 65, 66])
    for (const first of ['0', '1', 'f', 'A']) {
      const text = `0x${first}${'7'.repeat(length - 1)}`;
      t.same(packed(text), wordOf(text), text);
    }
  const hex = fc
    .string({ unit: fc.constantFrom(...'0012345789abcdef'), maxLength: 70 })
    .map((one) => `0x${one}`);
  fc.assert(
    fc.property(fc.oneof(hex, fc.string({ unit: 'grapheme' })), (text) => {
      t.strictSame(packed(text), wordOf(text));
    }),
  );
});
