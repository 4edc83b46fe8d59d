import { test } from 'tap';
import type { Term } from '../../../src/cluster/leading/term.js';
import { ENTRY_BYTES_MAX, entryBytes, type LogEntry } from '../../../src/cluster/log/log_batch.js';
import { TermLog } from '../../../src/cluster/node/term_log.js';
import { LatestInput } from '../../../src/log/records/latest_input.js';
import type { Price } from '../../../src/model/price.js';
import type { SeenUpdates } from '../../../src/model/seen_updates.js';
import { METADATA_LENGTH_MAX } from '../../../src/prices/message.js';
import { SEEN_UPDATES_MAX } from '../../../src/prices/replay.js';
import { atSecond, sampleAsset, sampleInput, samplePublisher } from '../../log/store/sample.js';

test('an input with a full window and the largest metadata is an entry that the log takes', async (t) => {
  const entries: LogEntry[] = [];
  const term = { append: (entry: LogEntry) => entries.push(entry) } as unknown as Term;
  const publisher = samplePublisher(1);
  const input = sampleInput(sampleAsset(0), publisher, 1n as Price, atSecond(1_704_067_200));
  const seen: SeenUpdates = {
    floorNs: atSecond(1_704_067_000),
    updates: Array.from({ length: SEEN_UPDATES_MAX }, (_, i) => ({
      hashKey: 2 ** 53 - 1 - i,
      second: 1_704_067_100,
      nanos: i,
      sender: `token ${i % 16} ${'x'.repeat(200)}`,
    })),
  };
  const latest = new LatestInput(seen);
  latest.restore({ ...input, wire: { ...input.wire, metadata: 'ü'.repeat(METADATA_LENGTH_MAX) } });
  new TermLog(term, { inputs: () => [] }).putInput(sampleAsset(0), publisher.key, latest);
  t.ok(entryBytes(entries[0]!) > 400_000);
  t.ok(entryBytes(entries[0]!) <= ENTRY_BYTES_MAX, `${entryBytes(entries[0]!)} bytes`);
});
