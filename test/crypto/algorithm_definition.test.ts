import { createHash } from 'node:crypto';
import { test } from 'tap';
import {
  ALGORITHM_VERSION,
  algorithmChecksum,
  algorithmDefinition,
} from '../../src/crypto/algorithm_definition.js';

// The checksums by which signed aggregates name their algorithms. After a change of an algorithm, add a new version instead of
// changing its checksum here.
const CHECKSUMS = {
  median: '96601d7b815171794c6a935eab185b5b0f74896b4d55e567ae4214a79a1cb4fe',
  average: 'a828ccd5a8a078b232e7da76634de6a0ac6d37550d590f33148bbbcfca88fb80',
  'weighted average': '18c75f5d99efc432d24919b00f94f8d917d2c500808ee5dcf4dd7e8170d3c07e',
  'trimmed mean': '2418337ac4f4bd53e0864dd1419b25d230668f7430e6fe099969d299c25760d2',
} as const;

for (const [type, checksum] of Object.entries(CHECKSUMS) as [keyof typeof CHECKSUMS, string][]) {
  test(`the checksum of ${type} is that of its definition`, async (t) => {
    const definition = algorithmDefinition(type);
    t.equal(algorithmChecksum(type), checksum);
    t.equal(createHash('sha256').update(definition).digest('hex'), checksum);
    t.ok(definition.startsWith(`${type} ${ALGORITHM_VERSION}\n`));
    t.match(definition, /^[\n\x20-\x7e]+$/, 'plain ASCII lines, the same bytes everywhere');
  });
}
