import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type Counters, createCounters } from './counters.js';
import { LATENCY_BOUNDS_S } from './frame_latency.js';
import { restRequestsText } from './rest_requests.js';
import { type ServiceState, type StoreState, stateText } from './state.js';
import { histogramText } from './text_format.js';

/** The values that are read at the moment of a scrape. */
export interface Measured {
  readonly pool: { readonly queued: number; readonly failures: number };
  readonly maker: { readonly updatesWaiting: number };
  readonly store: {
    health(): { readonly ok: boolean };
    readonly recordsWaiting: number;
    figures(): StoreState;
  };
  readonly state: () => ServiceState;
  /** Assets of the catalogue, and those that have a live price. */
  assets(): { readonly listed: number; readonly live: number };
  clock(): { readonly jumpSeconds: number; readonly aggregatesAheadSeconds: number };
  edges(): {
    /** Threads that serve REST and the sockets. */
    readonly threads: number;
    /** The bytes of the feed that wait for the thread that is furthest behind. */
    readonly feedBytesWaiting: number;
  };
}

/** What one edge tells at the moment of a scrape. */
export interface ServingReport {
  /** Open WebSockets of all kinds. */
  readonly connections: number;
  readonly streamConnections: number;
  readonly streamGroups: number;
  readonly streamsAheadSeconds: number;
}

/** What all of the service says of itself at the moment of a scrape. */
export interface Scrape {
  /** Of all threads. */
  readonly counters: Counters;
  readonly edges: readonly ServingReport[];
  /** How late a tick of any thread was at most since the last scrape. */
  readonly lateNsMax: bigint;
}

export interface Metrics {
  /** Adds what is read at the moment of a scrape. Called once, when the parts are there. */
  measure(measured: Measured): void;
  /** All metrics in the Prometheus text format. */
  text(scrape: Scrape): Promise<string>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  addProcess(registry);
  let scrape: Scrape = { counters: createCounters(), edges: [], lateNsMax: 0n };
  let ownText = () => '';
  const add: Additions = {
    count(name, help, read) {
      new Counter({
        name,
        help,
        registers: [registry],
        collect() {
          this.reset();
          this.inc(read(scrape.counters));
        },
      });
    },
    countByReason(name, help, read) {
      new Counter({
        name,
        help,
        labelNames: ['reason'],
        registers: [registry],
        collect() {
          this.reset();
          for (const [reason, times] of read(scrape.counters)) this.inc({ reason }, times);
        },
      });
    },
    countByLimit(name, help, read) {
      new Counter({
        name,
        help,
        labelNames: ['limit', 'caller'],
        registers: [registry],
        collect() {
          this.reset();
          for (const [limit, byCaller] of read(scrape.counters))
            for (const [caller, times] of byCaller) this.inc({ limit, caller }, times);
        },
      });
    },
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers: [registry],
        collect() {
          this.set(read(scrape));
        },
      });
    },
  };
  addCounts(add);
  addServing(add);
  return {
    measure(measured) {
      addMeasured(add, measured);
      ownText = () => stateText(measured.state(), measured.store.figures());
    },
    async text(now) {
      scrape = now;
      // prom-client writes "Nan" where nothing was measured yet; the text format has "NaN".
      const text = (await registry.metrics()).replace(/ Nan$/gm, ' NaN');
      const { counters } = now;
      const ours = frameLatencyText(counters) + restRequestsText(counters.restRequests) + ownText();
      return `${text.trimEnd()}\n\n${ours}`;
    },
  };
}

function frameLatencyText({ frameLatency }: Counters): string {
  return histogramText(
    'tickseal_publish_to_frame_seconds',
    'From the receipt of a message with a changed price to the first frame that is handed to sockets afterwards.',
    LATENCY_BOUNDS_S,
    [{ histogram: frameLatency }],
  );
}

/** Adds metrics whose value is read at the moment of a scrape. */
interface Additions {
  count(name: string, help: string, read: (counters: Counters) => number): void;
  /** One value for each reason. */
  countByReason(name: string, help: string, read: (counters: Counters) => ReadonlyMap<string, number>): void;
  /** One value for each limit and the name of each caller. */
  countByLimit(
    name: string,
    help: string,
    read: (counters: Counters) => ReadonlyMap<string, ReadonlyMap<string, number>>,
  ): void;
  gauge(name: string, help: string, read: (scrape: Scrape) => number): void;
}

/** What is counted since the start. */
function addCounts({ count, countByReason, countByLimit }: Additions): void {
  count(
    'tickseal_publish_messages_total',
    'Messages that publishers sent.',
    (counters) => counters.publishMessages,
  );
  count(
    'tickseal_updates_accepted_total',
    'Price updates that passed every check.',
    (counters) => counters.updatesAccepted,
  );
  countByReason(
    'tickseal_updates_rejected_total',
    'Price updates and messages that were refused, by reason.',
    (counters) => counters.updatesRejected,
  );
  countByReason(
    'tickseal_logins_refused_total',
    'Requests and upgrades that were refused for their login, by reason.',
    (counters) => counters.loginsRefused,
  );
  count(
    'tickseal_aggregates_signed_total',
    'Aggregates that were signed.',
    (counters) => counters.aggregatesSigned,
  );
  countByLimit(
    'tickseal_budget_refusals_total',
    'Frames, messages and subscriptions that a token or key was refused, by the limit that it was past.',
    (counters) => counters.budgetRefusals,
  );
  count(
    'tickseal_signing_failures_total',
    'Aggregates that could not be signed.',
    (counters) => counters.signingFailures,
  );
  count(
    'tickseal_assets_ended_total',
    'Times that an asset lost its price for want of fresh inputs.',
    (counters) => counters.assetsEnded,
  );
  count(
    'tickseal_publisher_replies_dropped_total',
    'Replies to publishers that do not read them.',
    (counters) => counters.repliesDropped,
  );
  count('tickseal_stream_frames_made_total', 'Frames that were encoded.', (counters) => counters.framesMade);
  count(
    'tickseal_stream_frames_skipped_total',
    'Frames that slow readers were not sent; they get newer ones.',
    (counters) => counters.framesSkipped,
  );
  count(
    'tickseal_stream_ticks_skipped_total',
    'Ticks on which a group of connections was sent no frame for want of time.',
    (counters) => counters.ticksSkipped,
  );
  count(
    'tickseal_stream_slow_consumers_closed_total',
    'Connections closed with 1013 for not reading.',
    (counters) => counters.slowConsumersClosed,
  );
  count(
    'tickseal_listen_thread_failures_total',
    'Threads that ended unasked or hung; each was replaced.',
    (counters) => counters.threadFailures,
  );
  count(
    'tickseal_listen_thread_overruns_total',
    'Times that a thread was so far behind that it had to be told everything anew.',
    (counters) => counters.threadOverruns,
  );
}

/** What the edges hold at the moment of a scrape. */
function addServing({ gauge }: Additions): void {
  const sum = (name: keyof ServingReport) => (scrape: Pick<Scrape, 'edges'>) =>
    scrape.edges.reduce((total, edge) => total + edge[name], 0);
  gauge('tickseal_connections', 'Open WebSocket connections of all kinds.', sum('connections'));
  gauge('tickseal_stream_connections', 'Open streaming connections.', sum('streamConnections'));
  gauge('tickseal_stream_groups', 'Sets of connections that share their frames.', sum('streamGroups'));
  gauge(
    'tickseal_clock_streams_ahead_seconds',
    'How far the times of open streams are ahead of the clock at most.',
    ({ edges }) => Math.max(0, ...edges.map(({ streamsAheadSeconds }) => streamsAheadSeconds)),
  );
}

/** What the parts of the service hold at the moment of a scrape. */
function addMeasured({ count, gauge }: Additions, measured: Measured): void {
  const { pool, maker, store, assets, clock, edges } = measured;
  gauge('tickseal_listen_threads', 'Threads that serve REST and the sockets.', () => edges().threads);
  gauge(
    'tickseal_listen_thread_feed_waiting_bytes',
    'Bytes of the price feed that the thread furthest behind has yet to take.',
    () => edges().feedBytesWaiting,
  );
  gauge('tickseal_updates_waiting', 'Price updates that wait for their verdict.', () => maker.updatesWaiting);
  gauge('tickseal_crypto_jobs_queued', 'Signatures that wait for a worker.', () => pool.queued);
  count(
    'tickseal_crypto_worker_failures_total',
    'Batches that a crypto worker did not answer; each was done again.',
    () => pool.failures,
  );
  gauge('tickseal_assets_live', 'Assets with a live price.', () => assets().live);
  gauge(
    'tickseal_assets_stale',
    'Assets of the catalogue without a live price.',
    () => assets().listed - assets().live,
  );
  gauge(
    'tickseal_clock_jump_seconds',
    'How far the wall clock is ahead of the clock of the service while a jump of it is not believed; else 0.',
    () => clock().jumpSeconds,
  );
  gauge(
    'tickseal_clock_aggregates_ahead_seconds',
    'How far the time of the last signed aggregate is ahead of the clock.',
    () => clock().aggregatesAheadSeconds,
  );
  gauge(
    'tickseal_store_records_waiting',
    'Records that wait for the next commit to the disk.',
    () => store.recordsWaiting,
  );
  gauge('tickseal_store_healthy', '1 while what is accepted reaches the disk, else 0.', () =>
    Number(store.health().ok),
  );
  gauge(
    'tickseal_event_loop_delay_max_seconds',
    'How late a tick was at most since the last scrape, because the event loop was busy.',
    ({ lateNsMax }) => Number(lateNsMax) / 1e9,
  );
}

/** Longer than any process runs, in ms. */
const NEVER_MS = 2 ** 31 - 1;

/** The metrics of every Node process, but for its measure of the event loop, which wakes an idle process 100 times a second. */
function addProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  for (const { name } of registry.getMetricsAsArray())
    if (name.startsWith('nodejs_eventloop_lag_')) registry.removeSingleMetric(name);
}
