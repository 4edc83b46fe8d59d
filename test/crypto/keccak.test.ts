import { randomBytes } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import fc from 'fast-check';
import { test } from 'tap';
import { hashWritten, keccak256, keccak256Into, keccakRoom } from '../../src/crypto/keccak.js';

test('the digests of an empty text and of abc', async (t) => {
  t.equal(
    keccak256(Buffer.alloc(0)).toString('hex'),
    'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
  );
  t.equal(
    keccak256(Buffer.from('abc')).toString('hex'),
    '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45',
  );
});

test('agrees with another implementation for every length up to 1,000, and around that of the room', async (t) => {
  const bytes = randomBytes(3 * keccakRoom.length);
  const lengths = Array.from({ length: 1_001 }, (_, length) => length);
  for (const rooms of [1, 2, 3])
    for (const more of [-137, -136, -135, -1, 0, 1]) lengths.push(rooms * keccakRoom.length + more);
  for (const length of lengths.filter((length) => length <= bytes.length)) {
    const message = bytes.subarray(0, length);
    if (!keccak256(message).equals(keccak_256(message))) t.fail(`another digest of ${length} bytes`);
  }
});

test('agrees with another implementation for any bytes, wherever they were written', async (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      t.same(keccak256(bytes), Buffer.from(keccak_256(bytes)));
      keccakRoom.set(bytes);
      t.same(hashWritten(bytes.length), Buffer.from(keccak_256(bytes)));
    }),
    { numRuns: 300 },
  );
});

test('writes into the bytes that it hashes', async (t) => {
  const bytes = Buffer.from('0123456789'.repeat(7));
  const expected = keccak256(bytes);
  keccak256Into(bytes, bytes, 3);
  t.same(bytes.subarray(3, 35), expected);
  t.equal(bytes.toString('latin1', 35), '0123456789'.repeat(7).slice(35));
});
