import fc from 'fast-check';
import { test } from 'tap';
import { parseHex, toHex } from '../../src/model/hex.js';

test('two texts of one number give the same bytes', async (t) => {
  const bytes = Buffer.from('000abc', 'hex');
  for (const text of ['0xabc', '0x0abc', '0x00abc', '0x000abc', '0x000ABC'])
    t.same(parseHex(text, 3), bytes, text);
  t.same(parseHex('0x0', 32), Buffer.alloc(32));
});

test('a text that is not hex, or needs more bytes, is refused', async (t) => {
  const wrong = ['', '0x', 'abc', '0xg1', '0x 1', ' 0x1', '0x1 ', '0x-1', '0X1', '0x1\n', '0x\u0161\u0161'];
  for (const text of [...wrong, '0x\uff11', '0x\u{1d7d8}', '0x0000abc', '0x1234567'])
    t.equal(parseHex(text, 3), undefined, text);
  t.equal(parseHex(`0x${'0'.repeat(1_000_000)}`, 3), undefined);
});

test('bytes of any buffer are the same after toHex and parseHex', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.nat(5), (bytes, offset) => {
      const backing = new Uint8Array(bytes.length + 10);
      backing.set(bytes, offset);
      const text = toHex(backing.subarray(offset, offset + bytes.length));
      return (
        text === `0x${Buffer.from(bytes).toString('hex')}` && parseHex(text, bytes.length)!.equals(bytes)
      );
    }),
  );
});
