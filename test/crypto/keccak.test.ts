import { keccak_256 } from '@noble/hashes/sha3.js';
import fc from 'fast-check';
import { test } from 'tap';
import { keccak256, keccak256Into } from '../../src/crypto/keccak.js';

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

test('agrees with another implementation for every length around the block size', async (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      t.same(keccak256(bytes), Buffer.from(keccak_256(bytes)));
    }),
    { numRuns: 300 },
  );
});

test('a digest is not overwritten by the next one', async (t) => {
  const first = keccak256(Buffer.from('abc'));
  const copy = Buffer.from(first);
  keccak256(Buffer.from('def'));
  t.same(first, copy);
});

test('writes into the bytes that it hashes', async (t) => {
  const bytes = Buffer.from('0123456789'.repeat(7));
  const expected = keccak256(bytes);
  keccak256Into(bytes, bytes, 3);
  t.same(bytes.subarray(3, 35), expected);
  t.equal(bytes.toString('latin1', 35), '0123456789'.repeat(7).slice(35));
});
