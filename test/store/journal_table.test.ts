import fc from 'fast-check';
import { test } from 'tap';
import { JournalTable } from '../../src/store/journal_table.js';
import { openFolder } from '../../src/store/lmdb/folder.js';
import { type Key, keyTextOf } from '../../src/store/table.js';
import { cases } from '../tier.js';

const KEYS: readonly Key[] = [
  ['A', 'kept'],
  ['B', 'kept'],
  ['A', 'other'],
  ['C', 7],
];
const KEPT = 2;

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('put' as const), key: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), key: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('begin' as const), key: fc.constant(0) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('end' as const, 'undo' as const), key: fc.constant(0) }),
  },
);

test('reads see each change, and commits write the newest, also after a failed commit', async (t) => {
  const folder = await openFolder({ dir: t.testdir() });
  const database = folder.openTable('records');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }), async (steps) => {
      await database.clearAsync();
      const table = new JournalTable<string>(
        database,
        { encode: (value) => Buffer.from(value), decode: (payload) => Buffer.from(payload).toString() },
        () => {},
      );
      const slots = KEYS.slice(0, KEPT).map((key) => table.keep(key));
      const expected = new Map<string, string>();
      let isCommitting = false;
      const write = async () => {
        await folder.root.batch(() => table.writeCommit());
        table.endCommit();
        isCommitting = false;
      };
      const look = () => {
        const keys = [...table.keys()].map(keyTextOf).sort();
        t.same(keys, [...expected.keys()].sort());
        for (const key of KEYS) t.equal(table.get(key), expected.get(keyTextOf(key)));
      };
      for (const [i, { kind, key: index }] of steps.entries()) {
        const key = KEYS[index]!;
        if (kind === 'put') {
          expected.set(keyTextOf(key), `${i}`);
          if (index < KEPT) table.putIn(slots[index]!, `${i}`);
          else table.put(key, `${i}`);
          t.ok(table.isWaiting(key));
        } else if (kind === 'remove') {
          expected.delete(keyTextOf(key));
          table.remove(key);
        } else if (kind === 'begin' && !isCommitting) {
          table.beginCommit();
          t.equal(table.pending, 0);
          table.encodeCommit();
          isCommitting = true;
        } else if (kind === 'end' && isCommitting) await write();
        else if (kind === 'undo' && isCommitting) {
          table.undoCommit();
          isCommitting = false;
        }
        look();
      }
      if (isCommitting) await write();
      table.beginCommit();
      table.encodeCommit();
      await write();
      t.equal(table.waiting, 0);
      look();
      t.same([...table.keysOnDisk()].map(keyTextOf).sort(), [...expected.keys()].sort());
      t.notOk(KEYS.some((key) => table.isWaiting(key)));
    }),
    { numRuns: cases(40) },
  );
  await folder.close(true);
});
