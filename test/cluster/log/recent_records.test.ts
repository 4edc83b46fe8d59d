import { test } from 'tap';
import { LOG_START, type LogPosition, type LogRecord, WrongEnd } from '../../../src/cluster/bus.js';
import { RecentRecords } from '../../../src/cluster/log/recent_records.js';

test('the records after the end of a log are returned, and none after another history', (t) => {
  const recent = filled(3, 9);
  t.same(sequences(recent.after({ sequence: 6, id: 'r6' })), [7, 8, 9]);
  t.same(recent.after({ sequence: 9, id: 'r9' }), []);
  t.same(recent.after({ sequence: 6, id: 'x6' }), []);
  t.same(sequences(recent.after({ sequence: 2, id: 'r2' })), [3, 4, 5, 6, 7, 8, 9], 'the record before them');
  t.same(recent.after({ sequence: 2, id: 'x2' }), []);
  t.same(recent.after({ sequence: 1, id: 'r1' }), [], 'older than the records');
  t.same(recent.after(LOG_START), []);
  t.same(sequences(filled(1, 3).after(LOG_START)), [1, 2, 3]);
  t.end();
});

test('the size is bounded, and records after a gap begin anew', (t) => {
  const recent = new RecentRecords(1_000);
  for (let sequence = 1; sequence <= 100; sequence++) recent.add(record(sequence), placeBefore(sequence));
  const kept = sequences(recent.after({ sequence: 95, id: 'r95' }));
  t.same(kept, [96, 97, 98, 99, 100]);
  t.same(recent.after({ sequence: 80, id: 'r80' }), []);
  recent.add(record(200), placeBefore(200));
  t.same(recent.after({ sequence: 99, id: 'r99' }), []);
  t.end();
});

test('restoring ends at the record that the servers refuse', async (t) => {
  const written: string[] = [];
  const bus = {
    append: async (after: LogPosition, id: string) => {
      if (written.length === 2) throw new WrongEnd('another record');
      written.push(`${after.id} ${id}`);
      return after.sequence + 1;
    },
  };
  await t.rejects(filled(1, 5).restore(bus, { sequence: 1, id: 'r1' }), WrongEnd);
  t.same(written, ['r1 r2', 'r2 r3']);
});

function filled(first: number, last: number): RecentRecords {
  const recent = new RecentRecords();
  for (let sequence = first; sequence <= last; sequence++)
    recent.add(record(sequence), placeBefore(sequence));
  return recent;
}

function record(sequence: number): LogRecord {
  return { sequence, id: `r${sequence}`, bytes: new Uint8Array(100) };
}

function sequences(records: readonly LogRecord[]): number[] {
  return records.map(({ sequence }) => sequence);
}

function placeBefore(sequence: number): LogPosition {
  return sequence === 1 ? LOG_START : { sequence: sequence - 1, id: `r${sequence - 1}` };
}
