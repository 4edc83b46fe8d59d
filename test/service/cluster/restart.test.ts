import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { appendTo } from '../../../scripts/load/store_records.js';
import type { Bus, LogPosition, LogRecord } from '../../../src/cluster/bus.js';
import { chainedRecord } from '../../../src/cluster/log/record_chain.js';
import { DEFAULT_TIMING } from '../../../src/cluster/timing.js';
import { parseConfig } from '../../../src/config/load.js';
import { createCryptoPool } from '../../../src/crypto/pool/pool.js';
import { FeedSource } from '../../../src/log/feed/feed_source.js';
import { encodeHolding } from '../../../src/log/records/holding.js';
import { openStore } from '../../../src/log/store/store.js';
import { StreamingIds } from '../../../src/log/store/streaming_ids.js';
import { createCounters } from '../../../src/model/counters.js';
import type { Price } from '../../../src/model/price.js';
import type { SignedAggregate } from '../../../src/model/signed_price.js';
import type { TimeNs } from '../../../src/model/time.js';
import { openClusterNode } from '../../../src/service/cluster_node.js';
import type { ClusterNodeOptions } from '../../../src/service/cluster_node_options.js';
import { deriveSettings, storeOptions } from '../../../src/service/settings.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { sampleHolding } from '../../log/records/sample_line.js';
import { sampleAggregate, samplePublisher } from '../../log/store/sample.js';
import { testConfig } from '../harness.js';
import { STREAM_KEYS } from './nodes.js';

test('a node that was killed serves no older aggregate than it had served', async (t) => {
  const node = await killedNode(t);
  node.maker.start();
  await turns();
  t.equal(node.servedNs(), undefined, 'its store has an older one than its readers saw');
  t.equal(node.storeChanges, 0);
  node.answer();
  await turns();
  t.equal(node.servedNs(), node.lastServedNs, 'the log had it');
  t.equal(node.storeChanges, 1, 'edges that read the store were not told of its records');
  node.record(node.lastServedNs + 1n);
  t.equal(node.servedNs(), node.lastServedNs + 1n, 'from then on, each as it comes');
  t.equal(node.storeChanges, 1);
});

test('a node with the folder of a process that handed it over serves at once', async (t) => {
  const node = await killedNode(t, { hasAll: true, isHandedOver: true });
  t.equal(node.servedNs(), node.lastServedNs, 'before it follows the log');
  node.maker.start();
  node.record(node.lastServedNs + 1n);
  t.equal(node.servedNs(), node.lastServedNs + 1n);
  node.answer();
  await turns();
  t.equal(node.storeChanges, 0);
});

test('a node that cannot continue says why, and still serves the aggregates that it has', async (t) => {
  const node = await killedNode(t, { hasAll: true });
  node.maker.start();
  node.answer();
  await turns();
  const servedNs = node.lastServedNs + 1n;
  node.record(servedNs);
  node.recordAfter('a record of another log');
  t.match(node.maker.troubles(), [
    /^record 4 of the log cannot be applied: it follows record a record of another log/,
  ]);
  const nowNs = node.clock.nowNs();
  node.maker.tick(nowNs);
  t.equal(node.maker.nextDueNs?.(nowNs), undefined, 'nothing is due any more, and the process goes on');
  t.equal(node.servedNs(), servedNs);
});

/**
 * Starts a node with the disk of a killed process. The disk has one of the two aggregates of the log, or both with `hasAll`. The
 * node can read the log only after the test allows this.
 */
async function killedNode(t: Test, { hasAll = false, isHandedOver = false } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-test-'));
  const clock = new FakeClock();
  const pool = await createCryptoPool({ threads: 0 });
  const parsed = parseConfig(testConfig(dir), 'test.yaml');
  if (!parsed.ok) throw new Error('the configuration is not valid');
  const settings = deriveSettings(parsed.config, STREAM_KEYS, pool);
  const asset = settings.catalogue.findAsset('BTCUSD', 'evm')!;
  const aggregateAt = (signedAtNs: bigint): SignedAggregate =>
    sampleAggregate(asset, [samplePublisher(0)], signedAtNs as Price, signedAtNs as TimeNs);
  const lastServedNs = clock.nowNs();
  const log: LogRecord[] = [];
  const append = (signedAtNs: bigint, after = log.at(-1)?.id ?? ''): LogRecord => {
    const bytes = encodeHolding(sampleHolding(aggregateAt(signedAtNs)));
    const sequence = log.length + 1;
    const { symbol, signatureType } = asset;
    const record = chainedRecord({
      epoch: 1,
      sequence,
      after,
      entries: [{ symbol, signatureType, bytes }],
    });
    log.push(record);
    return record;
  };
  append(lastServedNs - 1_000_000n);
  append(lastServedNs);

  const options = { ...storeOptions(settings), dir: settings.config.storage.dir, clock };
  const before = await openStore(options);
  const onDisk = hasAll ? log : log.slice(0, 1);
  appendTo(before, aggregateAt(hasAll ? lastServedNs : lastServedNs - 1_000_000n));
  before.log.position = onDisk.at(-1)!;
  await before.close();
  const store = await openStore(options);
  if (isHandedOver) Object.assign(store, { isHandedOver });

  const bus = new HeldBus(log);
  const source = new FeedSource(1);
  const state = { storeChanges: 0 };
  const maker = await openClusterNode({
    ids: StreamingIds.read(options.dir),
    bus,
    durable: 'disk',
    verifyRecords: false,
    member: {
      node: 3,
      name: 'n3',
      role: 'edge',
      timing: { ...DEFAULT_TIMING, leaseMs: 1_000, tickLeaseMs: 12_000, feedTimeoutMs: 10_000 },
    },
    settings,
    hooks: {
      onNodes() {},
      onStoreChanged() {
        state.storeChanges++;
      },
      onDue() {},
      onApplied() {},
    },
    parts: {
      store,
      past: { notice() {} },
      source,
      clock,
      pool,
      counters: createCounters(),
      logger: pino({ level: 'silent' }),
    },
  });
  t.teardown(async () => {
    await maker.close();
    await store.close();
    await pool.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    maker,
    clock,
    lastServedNs,
    get storeChanges() {
      return state.storeChanges;
    },
    /** Returns the time of the signature of the aggregate that readers receive. */
    servedNs: (): bigint | undefined => source.snapshot().live[0]?.holding?.aggregate?.signedAtNs,
    answer: () => bus.answerReads(),
    /** Adds an aggregate to the log, like the leader. */
    record: (signedAtNs: bigint) => bus.committed(append(signedAtNs)),
    /** Adds a record that follows the record with this ID. */
    recordAfter: (after: string) => bus.committed(append(lastServedNs + 1n, after)),
  };
}

/** A log whose records can be read only when a test allows this. There are no other nodes. */
class HeldBus implements Bus {
  readonly #log: readonly LogRecord[];
  committed: (record: LogRecord) => void = () => {};
  answerReads!: () => void;
  readonly #mayRead = new Promise<void>((resolve) => {
    this.answerReads = resolve;
  });
  readonly waitingBytes = 0;
  readonly refusedMessages = 0;
  readonly candles: ClusterNodeOptions['bus']['candles'] = {
    put: async () => {},
    async *read() {},
  };

  constructor(log: readonly LogRecord[]) {
    this.#log = log;
  }

  append(_after: LogPosition): Promise<number> {
    return Promise.reject(new Error('an edge writes nothing'));
  }

  async extent() {
    return { firstSequence: 1, last: this.#log.at(-1)! };
  }

  async read(after: number): Promise<readonly LogRecord[]> {
    await this.#mayRead;
    return this.#log.slice(after);
  }

  onCommitted(listener: (record: LogRecord) => void): () => void {
    this.committed = listener;
    return () => {};
  }

  ask(): Promise<Uint8Array> {
    return Promise.reject(new Error('nobody answers'));
  }

  send(): void {}
  listen = () => () => {};
  answer = () => () => {};
  reconnect(): void {}
  async close(): Promise<void> {}
  serverProblem = undefined;
  serverReport = () => Promise.reject(new Error('nobody answers'));
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await undefined;
}
