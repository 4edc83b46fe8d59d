import { keccak_256 } from '@noble/hashes/sha3.js';
import fc from 'fast-check';
import { test } from 'tap';
import { bytesToHex } from '../../../src/client/verify/bytes.js';
import { keccak256 } from '../../../src/client/verify/keccak_sponge.js';

test('hashes are those of @noble/hashes', async (t) => {
  for (let length = 0; length <= 300; length += 1) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 7 + length) % 256);
    if (bytesToHex(keccak256(bytes)) !== bytesToHex(keccak_256(bytes))) t.fail(`of ${length} bytes`);
  }
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 2000 }),
      (bytes) => bytesToHex(keccak256(bytes)) === bytesToHex(keccak_256(bytes)),
    ),
    { numRuns: 300 },
  );
  t.equal(
    bytesToHex(keccak256(new Uint8Array())),
    'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
  );
});
