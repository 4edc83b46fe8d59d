import { mkdirSync } from 'node:fs';
import { type Test, test } from 'tap';
import { Chunk } from '../../src/past/chunk.js';
import { logsFolder } from '../../src/past/past_folder.js';
import { LogReader, RunningLog } from '../../src/past/running_log.js';
import { aggregatesOf, HOUR_START_NS } from './sample_past.js';
import { entryOf } from './signed_past.js';

const FRAMES = 400;
const ENTRIES = 50;

/** Writes a log that takes many turns to read. */
async function longLog(t: Test) {
  const folder = t.testdir();
  mkdirSync(logsFolder(folder), { recursive: true });
  const chunk = new Chunk(1, 1);
  const log = await RunningLog.create(folder, chunk);
  t.teardown(() => log.close());
  const entries = [...aggregatesOf('BTCUSD', HOUR_START_NS, ENTRIES)].map(entryOf);
  const write = () => {
    for (const entry of entries) chunk.add('BTCUSD evm', entry);
    return log.write(chunk.takeFrame());
  };
  for (let frame = 0; frame < FRAMES; frame++) await write();
  const reader = (await LogReader.open(folder, chunk))!;
  t.teardown(() => reader.close());
  return { chunk, reader, write };
}

test('other work runs between the frames of a long log', async (t) => {
  const { chunk, reader } = await longLog(t);
  const seen = new Set<number>();
  let isRead = false;
  const look = () => {
    seen.add(reader.chunk.bytes);
    if (!isRead) setImmediate(look);
  };
  look();
  await reader.refresh();
  isRead = true;
  t.ok(seen.size > 2, `the log is seen in ${seen.size} states`);
  t.same(reader.chunk.blocks('BTCUSD evm'), chunk.blocks('BTCUSD evm'));
});

test('a call during a refresh has the frames that were written before the call', async (t) => {
  const { chunk, reader, write } = await longLog(t);
  const first = reader.refresh();
  while (reader.chunk.bytes === 0) await new Promise(setImmediate);
  await write();
  const calls = [reader.refresh(), reader.refresh()];
  await Promise.all(calls);
  t.equal(reader.chunk.bytes, chunk.bytes);
  await first;
  await reader.refresh();
  t.equal(reader.chunk.bytes, chunk.bytes, 'no frame twice');
});
