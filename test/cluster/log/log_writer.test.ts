import { test } from 'tap';
import { seededRandom } from '../../../scripts/load/random.js';
import { type LogPosition, type LogRecord, MESSAGE_BYTES_MAX } from '../../../src/cluster/bus.js';
import {
  BATCH_BYTES_MAX,
  decodeLogBatch,
  ENTRY_BYTES_MAX,
  ENTRY_OVERHEAD_BYTES,
  type LogEntry,
} from '../../../src/cluster/log/log_batch.js';
import { LogWriter } from '../../../src/cluster/log/log_writer.js';

const EPOCH = 5;

test('entries gather while a write is under way, up to the size of a record', async (t) => {
  const { writer, writes, settle } = setUp();
  writer.append(entry(10));
  await turns();
  t.equal(writes.length, 1);
  for (let i = 0; i < 5; i++) writer.append(entry(60_000));
  await turns();
  t.equal(writes.length, 1, 'one write is under way at a time');
  await settle(0);
  t.same([sizes(writes[1]!), writes[1]!.after.sequence], [[60_000, 60_000, 60_000, 60_000], EPOCH + 1]);
  t.ok(writes[1]!.bytes.length <= BATCH_BYTES_MAX);
  await settle(1);
  t.same(sizes(writes[2]!), [60_000]);
});

test('each record fits in a message between nodes, whatever its entries are', async (t) => {
  const random = seededRandom(7);
  const below = (max: number) => Math.floor(random() * max);
  for (let run = 0; run < 20; run++) {
    const { writer, writes, settle } = setUp();
    const entries = Array.from({ length: 1 + below(300) }, (_, i) => {
      const symbol = `${'€'.repeat(below(60))}${i}`;
      const max = ENTRY_BYTES_MAX - ENTRY_OVERHEAD_BYTES - 3 * symbol.length;
      return { ...entry(below(10) === 0 ? max : below(4_000)), symbol };
    });
    for (const one of entries) writer.append(one);
    await turns();
    for (let place = 0; place < writes.length; place++) await settle(place);
    t.ok(writes.every(({ bytes }) => bytes.length <= MESSAGE_BYTES_MAX));
    t.equal(writes.flatMap(sizes).length, entries.length);
  }
});

test('a newer input takes the place of an older one that waits', async (t) => {
  const { writer, writes, settle } = setUp();
  const input = (publisher: number, bytes: number): LogEntry => ({
    ...entry(bytes),
    publisherKey: new Uint8Array(20).fill(publisher),
  });
  writer.append(input(1, 10));
  await turns();
  writer.append(input(1, 20));
  writer.append(entry(1));
  writer.append(input(2, 30));
  writer.append(input(1, 21));
  writer.append(entry(2));
  writer.append({ ...input(1, 40), signatureType: 'stark' });
  let isDurable = false;
  writer.durable().then(() => {
    isDurable = true;
  });
  await settle(0);
  t.same(sizes(writes[1]!), [21, 1, 30, 2, 40], 'before the record that was made of the older one');
  writer.append(input(1, 22));
  await settle(1);
  t.ok(isDurable);
  t.same(sizes(writes[2]!), [22], 'what is being written stays as it is');
});

test('a write of which nobody knows is sent again as it was, and counts from when it was sent first', async (t) => {
  const { writer, writes, fail, settle, clock, failures } = setUp();
  writer.append(entry(1));
  await turns();
  clock.nowMs = 2_000;
  await fail(0, new Error('no answer'));
  t.equal(failures(), 1);
  writer.append(entry(2));
  clock.nowMs = 2_050;
  writer.tick(clock.nowMs);
  t.equal(writes.length, 1, 'not at once');
  clock.nowMs = 2_100;
  t.equal(writer.nextDueMs(), clock.nowMs);
  writer.tick(clock.nowMs);
  t.same(writes[1], writes[0]);
  await settle(1);
  t.equal(writer.acknowledgedSentMs, 1_000);
});

test('it beats when there is nothing to write', async (t) => {
  const { writer, writes, settle, clock } = setUp();
  t.equal(writer.nextDueMs(), 1_200);
  clock.nowMs = 1_200;
  writer.tick(clock.nowMs);
  t.same(sizes(writes[0]!), []);
  await settle(0);
  t.equal(writer.acknowledgedSentMs, 1_200);
});

interface Write {
  readonly after: LogPosition;
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** Creates a writer whose claim is record 5 of the log, at 1,000 ms. */
function setUp() {
  const writes: Write[] = [];
  const answers: { resolve: (sequence: number) => void; reject: (error: Error) => void }[] = [];
  const clock = { nowMs: 1_000 };
  const follower = {
    position: { sequence: EPOCH, id: 'claim' },
    lastId: 'claim',
    offer(record: LogRecord) {
      follower.position = record;
      follower.lastId = record.id;
      writer.applied(record);
    },
    catchUp: async () => {},
  };
  let failureCount = 0;
  const writer = new LogWriter({
    bus: {
      append(after, id, bytes) {
        writes.push({ after: { sequence: after.sequence, id: after.id }, id, bytes });
        return new Promise((resolve, reject) => answers.push({ resolve, reject }));
      },
    },
    follower,
    epoch: EPOCH,
    claimedMs: 1_000,
    timing: { leaseMs: 1_000, retryMs: 100 },
    nowMs: () => clock.nowMs,
    defer: queueMicrotask,
    failed: () => {
      failureCount++;
    },
    overflowed: () => {},
  });
  return {
    writer,
    writes,
    clock,
    failures: () => failureCount,
    async settle(place: number) {
      answers[place]!.resolve(writes[place]!.after.sequence + 1);
      await turns();
    },
    async fail(place: number, error: Error) {
      answers[place]!.reject(error);
      await turns();
    },
  };
}

function entry(size: number): LogEntry {
  return { symbol: 'BTCUSD', signatureType: 'evm', bytes: new Uint8Array(size) };
}

function sizes({ bytes }: Write): number[] {
  return decodeLogBatch(bytes).entries.map((one) => one.bytes.length);
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await undefined;
}
