import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type Test, test } from 'tap';
import { eventually, pause } from '../../../scripts/load/wait.js';
import { filesIn } from '../../../scripts/torture/cluster/synced_files.js';
import { LOG_START, type LogPosition, type LogRecord, WrongEnd } from '../../../src/cluster/bus.js';
import { LogFollower } from '../../../src/cluster/log/log_follower.js';
import { chainedRecord } from '../../../src/cluster/log/record_chain.js';
import type { NatsBus } from '../../../src/cluster/nats/nats_bus.js';
import { DEFAULT_TIMING } from '../../../src/cluster/timing.js';
import { natsBus, natsServers, needsNatsServer } from './servers.js';

const CLAIM = { node: 1, name: 'one', run: 'r', attempt: 1, configHash: new Uint8Array(0), resign: false };
const RECORDS = 200;
const TICK_MS = 20;

test(
  'a new node names a record that its server lost, and reads the record from another server',
  needsNatsServer(),
  async (t) => {
    const servers = await natsServers(t, 3, '', { syncAlways: true });
    const bus = await natsBus(t, servers.urls);
    const records: LogRecord[] = [];
    const append = async () => {
      const position: LogPosition = records.at(-1) ?? LOG_START;
      const sequence = position.sequence + 1;
      const claim = sequence === 1 ? CLAIM : undefined;
      const record = chainedRecord({ epoch: 1, sequence, after: position.id, claim, entries: [] });
      await bus.append(position, record.id, record.bytes).catch((error) => {
        // An earlier call without an answer has appended the same record.
        if (!(error instanceof WrongEnd)) throw error;
      });
      records.push(record);
    };
    while (records.length < RECORDS) await append();

    await servers.signal(0, 'SIGTERM');
    flipBit(servers.storage(0));
    await servers.start(0);
    // Any server may answer a read, so not every new node asks the damaged server.
    const reader = await natsBus(t, servers.urls);
    const named = await eventually(async () => {
      const { applied, damaged, broken, stop } = follow(t, reader);
      await eventually(() => applied.length === RECORDS);
      t.same(broken, []);
      stop();
      return damaged.length > 0 && damaged;
    });
    t.match(named, [/^the log lacks the records (\d+) to \1$/], 'named once');

    // The steps of CLUSTER.md.
    await servers.signal(0, 'SIGKILL');
    for (const file of logFiles(servers.storage(0))) rmSync(file);
    await servers.start(0);
    // The files show the copy, because any server may answer a read.
    await eventually(async () => {
      await append().catch(() => undefined);
      await pause(100);
      const copy = Buffer.concat(recordFiles(servers.storage(0)).map((file) => readFileSync(file)));
      return records.every(({ id, bytes }) => copy.includes(id) && copy.includes(Buffer.from(bytes)));
    });
    t.pass('the new copy is whole');
  },
);

/** Follows the log from its beginning. */
function follow(t: Test, bus: NatsBus) {
  const applied: number[] = [];
  const damaged: string[] = [];
  const broken: string[] = [];
  const nowMs = () => performance.now();
  const follower = new LogFollower({
    bus,
    position: LOG_START,
    reportedEnd: () => 0,
    apply: (_, { sequence }) => applied.push(sequence),
    caughtUp: () => {},
    missing: () => broken.push('missing'),
    broken: (reason) => broken.push(reason),
    faulty: (_, reason) => damaged.push(reason),
    timing: { ...DEFAULT_TIMING, leaseMs: 1_000 },
    nowMs,
  });
  const ticks = setInterval(() => follower.tick(nowMs()), TICK_MS);
  const stop = () => {
    clearInterval(ticks);
    follower.stop();
  };
  t.teardown(stop);
  follower.start();
  return { applied, damaged, broken, stop };
}

/** Flips a bit in the middle of the file that holds the records of the log. */
function flipBit(dir: string): void {
  const [file] = recordFiles(dir).sort((one, other) => statSync(other).size - statSync(one).size);
  const bytes = readFileSync(file!);
  bytes[bytes.length >> 1]! ^= 4;
  writeFileSync(file!, bytes);
}

/** Returns the files of a server's copy of the log. */
function logFiles(dir: string): string[] {
  return filesIn(dir).filter((file) => file.includes('TS_MAIN_LOG'));
}

/** Returns the files of a server's copy that hold its records. */
function recordFiles(dir: string): string[] {
  return logFiles(dir).filter((file) => file.endsWith('.blk'));
}
