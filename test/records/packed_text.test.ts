import fc from 'fast-check';
import { test } from 'tap';
import { packText, unpackText } from '../../src/records/packed_text.js';

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
