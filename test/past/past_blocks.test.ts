import { test } from 'tap';
import { createHeldBytes } from '../../scripts/load/held_memory.js';
import { pause } from '../../scripts/load/wait.js';
import { BLOCK_ENTRIES_MAX } from '../../src/past/entry_block.js';
import { PastReader } from '../../src/past/past_reader.js';
import {
  aggregatesOf,
  evmName,
  HOUR_START_NS,
  holdingOfAggregate,
  openPast,
  pastOptionsOf,
} from './sample_past.js';

const READERS = 100;
/** A block has more than 30,000 bytes. */
const READER_BYTES_MAX = 5_000;

test('a reader of the past holds no block between two blocks', async (t) => {
  const folder = t.testdir();
  const past = await openPast(folder);
  for (const aggregate of aggregatesOf('BTCUSD', HOUR_START_NS, 3 * BLOCK_ENTRIES_MAX))
    past.append(aggregate, holdingOfAggregate(aggregate));
  await past.write();
  await past.committed();
  await past.close();
  // The next process writes the log into a file, whose blocks are read one by one.
  const { clock } = pastOptionsOf(folder);
  await (await openPast(folder, { clock })).close();
  const reader = new PastReader(folder);
  const collected = createHeldBytes();
  // Another thread frees the memory of collected buffers.
  const heldBytes = async () => {
    for (let i = 0; i < 3; i++) {
      collected();
      await pause(1);
    }
    return collected();
  };
  const range = { fromNs: 0n, toNs: 2n ** 62n };
  const readers = Array.from({ length: READERS }, () =>
    reader.blocks(evmName('BTCUSD'), range, true)[Symbol.asyncIterator](),
  );
  // The first reader reads the index of the file.
  const { value: block } = await readers[0]!.next();
  let entries = 0;
  for (const _ of block!.entries()) entries++;
  const before = await heldBytes();
  for (const blocks of readers) await blocks.next();
  const held = ((await heldBytes()) - before) / READERS;
  t.equal(entries, 256, 'a block is full');
  t.ok(held < READER_BYTES_MAX, `a reader holds ${held} bytes`);
  await reader.close();
});
