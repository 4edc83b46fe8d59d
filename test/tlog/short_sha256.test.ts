import { createHash } from 'node:crypto';
import { test } from 'tap';
import { bytesToHex } from '../../src/client/verify/bytes.js';
import { sha256 } from '../../src/tlog/short_sha256.js';

test("hashes are those of Node's crypto", async (t) => {
  for (let length = 0; length <= 300; length += 1) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 7 + length) % 256);
    const expected = createHash('sha256').update(bytes).digest('hex');
    if (bytesToHex(sha256(bytes)) !== expected) t.fail(`of ${length} bytes`);
  }
  t.equal(
    bytesToHex(sha256(new TextEncoder().encode('abc'))),
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  );
});
