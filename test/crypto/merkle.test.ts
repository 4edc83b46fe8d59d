import fc from 'fast-check';
import { test } from 'tap';
import { keccak256 } from '../../src/crypto/keccak.js';
import { merkleRoot } from '../../src/crypto/merkle.js';

/** Computes the root by its definition, without the tested code. */
function plainRoot(level: readonly Buffer[]): Buffer {
  if (level.length === 1) return level[0]!;
  const even = level.length % 2 === 0 ? level : [...level, level.at(-1)!];
  const parents = [];
  for (let i = 0; i < even.length; i += 2) parents.push(keccak256(Buffer.concat([even[i]!, even[i + 1]!])));
  return plainRoot(parents);
}

test('agrees with the plain definition and does not change the leaves', async (t) => {
  const leaf = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(fc.array(leaf, { minLength: 1, maxLength: 70 }), (leaves) => {
      const copies = leaves.map((bytes) => Buffer.from(bytes));
      t.same(merkleRoot(leaves), plainRoot(copies));
      t.same(
        leaves.map((bytes) => Buffer.from(bytes)),
        copies,
      );
    }),
  );
});
