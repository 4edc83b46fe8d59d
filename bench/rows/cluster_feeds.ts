import { percentile } from '../../scripts/load/statistics.js';
import { pause } from '../../scripts/load/wait.js';
import { systemClock } from '../../src/clock/clock.js';
import type { NatsBus } from '../../src/cluster/nats/nats_bus.js';
import { type AssetKey, assetKey, IdMapping } from '../../src/cluster/ticks/id_mapping.js';
import { TickSender } from '../../src/cluster/ticks/tick_sender.js';
import { DEFAULT_TIMING } from '../../src/cluster/timing.js';
import type { Price } from '../../src/model/price.js';
import type { Measurement, Row, Scale } from '../harness/row.js';
import { BenchLog, openBenchBus } from '../workloads/bench_log.js';
import { natsCpuSeconds, withNatsServers } from '../workloads/cluster.js';
import { AggregateEntries } from '../workloads/log_records.js';
import { NatsFeed } from '../workloads/nats_feed.js';

const ASSETS: Readonly<Record<Scale, number>> = { full: 1_000, smoke: 10 };
const FEEDS: Readonly<Record<Scale, number>> = { full: 50, smoke: 2 };
const STEP_MS = 10;
/** The number of price changes of each asset in a second. The next constant is the number of signed aggregates. */
const CHANGES_PER_ASSET = 1;
const AGGREGATES_PER_ASSET = 2;
const SETTLE_MS: Readonly<Record<Scale, number>> = { full: 2_000, smoke: 50 };
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 5_000, smoke: 200 };

export const clusterFeeds: Row = {
  name: 'cluster-feeds',
  title: '50 feeds of ticks and log from one nats-server, 1,000 assets',
  method:
    'A leader sends 1,000 changed prices and 2,000 aggregates of five inputs a second, in steps of 10 ms, with its own code. 50 ' +
    'connections receive both as 50 edges do, and drop it. They and the leader are one process, whose own delays are among ' +
    'those measured: from the sending of a tick until the slowest feed has read its head. A feed costs what the server used ' +
    'with 50 beside what it used with none.',
  rounds: 2,
  variants: {
    feeds: (scale) => measure(scale, FEEDS[scale]),
    'no feed': (scale) => measure(scale, 0),
  },
  lines: () => [
    {
      name: 'nats-server with 50 feeds',
      unit: 'cores',
      ours: { variant: 'feeds', figure: 'server cores' },
      bound: { atMost: 1 },
      peers: [{ name: 'without a feed', source: { variant: 'no feed', figure: 'server cores' } }],
      shown: [
        { name: 'a feed', unit: 'MB/s', source: { variant: 'feeds', figure: 'MB/s a feed' } },
        { name: 'client', unit: 'cores', source: { variant: 'feeds', figure: 'client cores' } },
      ],
    },
    {
      name: 'tick at the slowest feed',
      unit: 'ms p50',
      ours: { variant: 'feeds', figure: 'slowest feed: p50' },
      peers: [],
      shown: [{ name: 'p99', unit: 'ms', source: { variant: 'feeds', figure: 'slowest feed: p99' } }],
    },
  ],
};

function measure(scale: Scale, feedCount: number): Promise<Measurement> {
  const edges = Array.from({ length: feedCount }, (_, index) => index + 2);
  const roles = ['aggregator' as const, ...edges.map(() => 'edge' as const)];
  return withNatsServers({ count: 1, roles }, async (servers) => {
    const leaderBus = await openBenchBus(servers);
    const leader = new BenchLeader(leaderBus, await BenchLog.begin(leaderBus), ASSETS[scale]);
    const feeds = await Promise.all(edges.map((node) => NatsFeed.open(servers, node)));
    await leader.run(SETTLE_MS[scale]);
    const ticksBefore = leader.sentMs.length;
    const bytesBefore = bytesOf(feeds);
    const natsBefore = natsCpuSeconds(servers);
    const before = process.cpuUsage();
    const startMs = performance.now();
    await leader.run(MEASURE_MS[scale]);
    const seconds = (performance.now() - startMs) / 1000;
    const { user, system } = process.cpuUsage(before);
    const bytes = bytesOf(feeds) - bytesBefore;
    const serverCores = (natsCpuSeconds(servers) - natsBefore) / seconds;
    await pause(STEP_MS);
    const delays = feeds.map(({ tickMs }) =>
      leader.sentMs.map((ms, i) => tickMs[i]! - ms).slice(ticksBefore),
    );
    const slowest = (percent: number) => Math.max(...delays.map((these) => percentile(these, percent)));
    leader.stop();
    for (const feed of feeds) feed.close();
    await leaderBus.close();
    return {
      figures: {
        'server cores': serverCores,
        'client cores': (user + system) / 1e6 / seconds,
        ...(feedCount > 0 && {
          'MB/s a feed': bytes / feedCount / seconds / 1e6,
          'slowest feed: p50': slowest(50),
          'slowest feed: p99': slowest(99),
        }),
      },
    };
  });
}

function bytesOf(feeds: readonly NatsFeed[]): number {
  return feeds.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Sends the messages of a leader that makes prices for all assets. */
class BenchLeader {
  /** The sending time of each tick. */
  readonly sentMs: number[] = [];
  readonly #log: BenchLog;
  readonly #sender: TickSender;
  readonly #entries: AggregateEntries;
  readonly #assets: number;
  readonly #keys: readonly AssetKey[];
  readonly #clock = systemClock();
  #changes = 0;

  constructor(bus: NatsBus, log: BenchLog, assets: number) {
    this.#log = log;
    this.#assets = assets;
    this.#entries = new AggregateEntries(assets);
    const taxonomy = new IdMapping(
      Array.from({ length: assets }, (_, id) => ({
        id,
        symbol: `ASSET${id}USD`,
        signatureType: 'evm' as const,
      })),
    );
    this.#keys = taxonomy.assets.map(assetKey);
    this.#sender = new TickSender({
      bus: {
        waitingBytes: 0,
        answer: (topic, handler) => bus.answer(topic, handler),
        send: (topic, bytes) => {
          this.sentMs.push(performance.now());
          bus.send(topic, bytes);
        },
      },
      epoch: 1,
      mayTick: () => true,
      taxonomy: () => taxonomy,
      timing: DEFAULT_TIMING,
      nowMs: () => performance.now(),
      defer: setImmediate,
    });
  }

  async run(durationMs: number): Promise<void> {
    this.#sender.start();
    const startMs = performance.now();
    let changes = 0;
    let aggregates = 0;
    for (let elapsedMs = 0; elapsedMs < durationMs; elapsedMs = performance.now() - startMs) {
      const assetSeconds = (elapsedMs / 1000) * this.#assets;
      for (; changes < assetSeconds * CHANGES_PER_ASSET; changes++) this.#change();
      for (; aggregates < assetSeconds * AGGREGATES_PER_ASSET; aggregates++)
        this.#log.append(this.#entries.next(this.#clock.nowNs()));
      this.#sender.tick(performance.now());
      await pause(STEP_MS);
    }
    await this.#log.durable();
  }

  stop(): void {
    this.#sender.stop();
    this.#log.stop();
  }

  #change(): void {
    const price = BigInt(1_000_000_000 + this.#changes) as Price;
    this.#sender.priced(this.#keys[this.#changes++ % this.#assets]!, price);
  }
}
