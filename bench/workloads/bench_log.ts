import { randomBytes } from 'node:crypto';
import type { NatsServers } from '../../scripts/load/nats_servers.js';
import { LOG_START } from '../../src/cluster/bus.js';
import type { LogEntry } from '../../src/cluster/log/log_batch.js';
import { LogFollower } from '../../src/cluster/log/log_follower.js';
import { LogWriter } from '../../src/cluster/log/log_writer.js';
import { chainedRecord } from '../../src/cluster/log/record_chain.js';
import { openNatsBus } from '../../src/cluster/nats/nats_bus.js';
import { DEFAULT_TIMING } from '../../src/cluster/timing.js';

/** The number of entries in a chunk. The next chunk is made while the log receives the current chunk. */
const CHUNK_ENTRIES = 1_000;
const HOUR_MS = 3_600_000;

/** Fills the new log of a cluster with one server, with the writer of the service, as node 1. Resolves when the log has all entries. */
export async function fillLog(servers: NatsServers, entries: Iterable<LogEntry>): Promise<void> {
  const bus = await openNatsBus({
    name: 'main',
    role: 'aggregator',
    servers: servers.urls,
    credentials: servers.credentialsOf(1),
    replicas: 1,
    logRetentionMs: HOUR_MS,
    candleRetentionMs: HOUR_MS,
    onNotice: (text) => process.stderr.write(`${text}\n`),
  });
  const own = { timing: { ...DEFAULT_TIMING, leaseMs: 1_000 }, nowMs: () => performance.now() };
  const claimedMs = own.nowMs();
  const run = randomBytes(8).toString('hex');
  const claim = { node: 63, name: 'bench', run, attempt: 1, configHash: new Uint8Array(32), resign: false };
  const { id, bytes } = chainedRecord({ epoch: 1, sequence: 1, after: '', claim, entries: [] });
  const epoch = await bus.append(LOG_START, id, bytes);
  const follower = new LogFollower({
    bus,
    position: { sequence: epoch, id },
    apply: (_batch, position) => writer.applied(position),
    reportedEnd: () => 0,
    caughtUp: () => {},
    missing: fail('records of the log were deleted'),
    broken: (reason) => fail(reason)(),
    faulty: (reason) => fail(reason)(),
    ...own,
  });
  const writer = new LogWriter({
    bus,
    follower,
    epoch,
    claimedMs,
    defer: setImmediate,
    failed: fail('a write to the log failed'),
    overflowed: fail('too much waits for the log'),
    ...own,
  });
  follower.start();
  let count = 0;
  let before = Promise.resolve();
  for (const entry of entries) {
    writer.append(entry);
    if (++count % CHUNK_ENTRIES !== 0) continue;
    const now = writer.durable();
    await before;
    before = now;
  }
  await writer.durable();
  follower.stop();
  writer.stop();
  await bus.close();
}

function fail(reason: string): () => never {
  return () => {
    throw new Error(reason);
  };
}
