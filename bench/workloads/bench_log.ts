import { randomBytes } from 'node:crypto';
import type { NatsServers } from '../../scripts/load/nats_servers.js';
import { LOG_START } from '../../src/cluster/bus.js';
import type { LogEntry } from '../../src/cluster/log/log_batch.js';
import { LogFollower } from '../../src/cluster/log/log_follower.js';
import { LogWriter } from '../../src/cluster/log/log_writer.js';
import { chainedRecord } from '../../src/cluster/log/record_chain.js';
import { type NatsBus, openNatsBus } from '../../src/cluster/nats/nats_bus.js';
import { DEFAULT_TIMING } from '../../src/cluster/timing.js';

export const CLUSTER_NAME = 'main';
const TIMING = { ...DEFAULT_TIMING, leaseMs: 1_000 };
/** The number of entries in a chunk. The bench makes the next chunk while the log receives the current chunk. */
const CHUNK_ENTRIES = 1_000;
const HOUR_MS = 3_600_000;
const nowMs = () => performance.now();

/** Connects with the options of a leader, as node 1. */
export function openBenchBus(natsServers: NatsServers): Promise<NatsBus> {
  const servers = natsServers.urls;
  return openNatsBus({
    name: CLUSTER_NAME,
    role: 'aggregator',
    servers,
    credentials: natsServers.credentialsOf(1),
    replicas: servers.length > 1 ? 3 : 1,
    logRetentionMs: HOUR_MS,
    candleRetentionMs: HOUR_MS,
    onNotice: (text) => process.stderr.write(`${text}\n`),
  });
}

/** A new log. This process writes the log with the writer of the service. */
export class BenchLog {
  readonly #writer: LogWriter;
  readonly #follower: LogFollower;

  private constructor(bus: NatsBus, epoch: number, id: string, claimedMs: number) {
    this.#follower = new LogFollower({
      bus,
      position: { sequence: epoch, id },
      apply: (_batch, position) => this.#writer.applied(position),
      reportedEnd: () => 0,
      caughtUp: () => {},
      missing: fail('records of the log were deleted'),
      broken: (reason) => fail(reason)(),
      faulty: (reason) => fail(reason)(),
      timing: TIMING,
      nowMs,
    });
    this.#writer = new LogWriter({
      bus,
      follower: this.#follower,
      epoch,
      claimedMs,
      timing: TIMING,
      nowMs,
      defer: setImmediate,
      failed: fail('a write to the log failed'),
      overflowed: fail('too much waits for the log'),
    });
    this.#follower.start();
  }

  static async begin(bus: NatsBus): Promise<BenchLog> {
    const claimedMs = nowMs();
    const claim = {
      node: 63,
      name: 'bench',
      run: randomBytes(8).toString('hex'),
      attempt: 1,
      configHash: new Uint8Array(32),
      resign: false,
    };
    const { id, bytes } = chainedRecord({ epoch: 1, sequence: 1, after: '', claim, entries: [] });
    const epoch = await bus.append(LOG_START, id, bytes);
    return new BenchLog(bus, epoch, id, claimedMs);
  }

  /** The number of records, including the first claim of the log. */
  get records(): number {
    return this.#follower.position.sequence;
  }

  append(entry: LogEntry): void {
    this.#writer.append(entry);
  }

  durable(): Promise<void> {
    return this.#writer.durable();
  }

  /**
   * Appends entries as fast as the log accepts them.
   * @returns the number of the entries' bytes, when the log has all entries
   */
  async appendAll(entries: Iterable<LogEntry>): Promise<number> {
    let bytes = 0;
    let count = 0;
    let before = Promise.resolve();
    for (const entry of entries) {
      this.append(entry);
      bytes += entry.bytes.length;
      if (++count % CHUNK_ENTRIES !== 0) continue;
      const now = this.durable();
      await before;
      before = now;
    }
    await this.durable();
    return bytes;
  }

  stop(): void {
    this.#follower.stop();
    this.#writer.stop();
  }
}

function fail(reason: string): () => never {
  return () => {
    throw new Error(reason);
  };
}
