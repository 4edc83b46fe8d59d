import { randomBytes } from 'node:crypto';
import { snappyUncompress } from 'hyparquet/src/snappy.js';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import { test } from 'tap';
import { snappy } from '../../src/records/snappy.js';

function unpacked(packed: Uint8Array, length: number): Buffer {
  const out = Buffer.alloc(length);
  snappyUncompress(packed, out);
  return out;
}

/** Bytes with many short matches, few matches, long matches, matches that are too far away, and no match. */
const INPUTS: Readonly<Record<string, (length: number) => Buffer>> = {
  bits: (length) => randomBytes(length).map((byte) => byte & 1) as Buffer,
  digits: (length) => Buffer.from(randomBytes(length).toString('hex').slice(0, length)),
  zeros: (length) => Buffer.alloc(length),
  far: (length) => {
    const some = randomBytes(0x10100);
    return Buffer.alloc(length).map((_, i) => some[i % some.length]!) as Buffer;
  },
  'some runs': (length) => randomBytes(length).map((byte, i) => (i % 97 < 70 ? 7 : byte)) as Buffer,
  random: (length) => randomBytes(length),
};

test('the result is the result of the library, and can be unpacked', async (t) => {
  const lengths = [...Array.from({ length: 140 }, (_, length) => length), 1_000, 65_535, 65_536, 200_000];
  for (const [name, inputOf] of Object.entries(INPUTS)) {
    for (const length of lengths) {
      const input = inputOf(length);
      const packed = snappy(input);
      if (!Buffer.from(snappyCompress(input)).equals(packed)) t.fail(`${name}, ${length}: differs`);
      if (length > 0 && !unpacked(packed, length).equals(input)) t.fail(`${name}, ${length}: another text`);
    }
    t.pass(name);
  }
});
