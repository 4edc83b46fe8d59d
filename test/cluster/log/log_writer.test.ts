import { test } from 'tap';
import { seededRandom } from '../../../scripts/load/random.js';
import { type LogRecord, MESSAGE_BYTES_MAX } from '../../../src/cluster/bus.js';
import {
  decodeLogBatch,
  ENTRY_BYTES_MAX,
  ENTRY_OVERHEAD_BYTES,
  type LogEntry,
} from '../../../src/cluster/log/log_batch.js';
import { LogWriter } from '../../../src/cluster/log/log_writer.js';

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

interface Write {
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

/** Creates a writer whose claim is record 5 of the log. */
function setUp() {
  const writes: Write[] = [];
  const answers: ((sequence: number) => void)[] = [];
  const follower = {
    position: { sequence: 5, id: 'claim' },
    lastId: 'claim',
    offer(record: LogRecord) {
      follower.position = record;
      follower.lastId = record.id;
      writer.applied(record);
    },
    catchUp: async () => {},
  };
  const writer = new LogWriter({
    bus: {
      append(after, _, bytes) {
        writes.push({ sequence: after.sequence + 1, bytes });
        return new Promise((resolve) => answers.push(resolve));
      },
    },
    follower,
    epoch: 5,
    claimedMs: 0,
    timing: { leaseMs: 1_000, retryMs: 100 },
    nowMs: () => 0,
    defer: queueMicrotask,
    failed: () => {},
    overflowed: () => {},
  });
  /** Confirms the write at this place. */
  const settle = async (place: number) => {
    answers[place]!(writes[place]!.sequence);
    await turns();
  };
  return { writer, writes, settle };
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
