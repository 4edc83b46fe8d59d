import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Counters } from './counters.js';

/** The values that are read at the moment of a scrape. */
export interface Measured {
  readonly pool: { readonly queued: number; readonly failures: number };
  readonly aggregator: { readonly updatesWaiting: number };
  readonly streams: readonly { readonly groupCount: number }[];
  readonly store: { health(): { readonly ok: boolean }; readonly recordsWaiting: number };
  readonly table: { readonly live: Uint8Array };
  readonly clock: {
    readonly jumpSeconds: number;
    readonly aggregatesAheadSeconds: number;
    readonly streamsAheadSeconds: number;
  };
  readonly server: {
    /** Open WebSockets of all kinds, and those that stream. */
    readonly sockets: { readonly size: number; readonly streams: number };
    /** Threads that serve REST and the sockets. */
    readonly threads: number;
    /** The bytes that wait between the main thread and the thread that is furthest behind. */
    readonly waiting: { readonly frameBytes: number; readonly eventBytes: number };
  };
}

export interface Metrics {
  /** Adds what is read at the moment of a scrape. Called once, when the parts are there. */
  measure(measured: Measured): void;
  /** All metrics in the Prometheus text format. */
  text(): Promise<string>;
}

export function createMetrics(counters: Counters): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registry.registerMetric(counters.frameLatency.histogram);
  const add: Additions = {
    count(name, help, read) {
      new Counter({
        name,
        help,
        registers: [registry],
        collect() {
          this.reset();
          this.inc(read());
        },
      });
    },
    countByReason(name, help, counts) {
      new Counter({
        name,
        help,
        labelNames: ['reason'],
        registers: [registry],
        collect() {
          this.reset();
          for (const [reason, times] of counts) this.inc({ reason }, times);
        },
      });
    },
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers: [registry],
        collect() {
          this.set(read());
        },
      });
    },
  };
  addCounts(add, counters);
  addEventLoop(add);
  return {
    measure: (measured) => addMeasured(add, measured),
    // prom-client writes "Nan" where nothing was measured yet; the text format has "NaN".
    text: async () => (await registry.metrics()).replace(/ Nan$/gm, ' NaN'),
  };
}

/** Adds metrics whose value is read at the moment of a scrape. */
interface Additions {
  count(name: string, help: string, read: () => number): void;
  /** One value for each reason. */
  countByReason(name: string, help: string, counts: ReadonlyMap<string, number>): void;
  gauge(name: string, help: string, read: () => number): void;
}

/** What is counted since the start. */
function addCounts({ count, countByReason }: Additions, counters: Counters): void {
  count('tickseal_publish_messages_total', 'Messages that publishers sent.', () => counters.publishMessages);
  count(
    'tickseal_updates_accepted_total',
    'Price updates that passed every check.',
    () => counters.updatesAccepted,
  );
  countByReason(
    'tickseal_updates_rejected_total',
    'Price updates and messages that were refused, by reason.',
    counters.updatesRejected,
  );
  countByReason(
    'tickseal_logins_refused_total',
    'Requests and upgrades that were refused for their login, by reason.',
    counters.loginsRefused,
  );
  count('tickseal_aggregates_signed_total', 'Aggregates that were signed.', () => counters.aggregatesSigned);
  count(
    'tickseal_signing_failures_total',
    'Aggregates that could not be signed.',
    () => counters.signingFailures,
  );
  count(
    'tickseal_assets_ended_total',
    'Times that an asset lost its price for want of fresh inputs.',
    () => counters.assetsEnded,
  );
  count(
    'tickseal_publisher_replies_dropped_total',
    'Replies to publishers that do not read them.',
    () => counters.repliesDropped,
  );
  count('tickseal_stream_frames_made_total', 'Frames that were encoded.', () => counters.framesMade);
  count(
    'tickseal_stream_frames_skipped_total',
    'Frames that slow readers were not sent; they get newer ones.',
    () => counters.framesSkipped,
  );
  count(
    'tickseal_stream_ticks_skipped_total',
    'Ticks on which a group of connections was sent no frame for want of time.',
    () => counters.ticksSkipped,
  );
  count(
    'tickseal_stream_slow_consumers_closed_total',
    'Connections closed with 1013 for not reading.',
    () => counters.slowConsumersClosed,
  );
  count(
    'tickseal_listen_thread_failures_total',
    'Threads that ended unasked or hung; each was replaced.',
    () => counters.threadFailures,
  );
  count(
    'tickseal_listen_thread_overruns_total',
    'Frames that a thread was too far behind to take; its connections get newer ones.',
    () => counters.threadOverruns,
  );
}

/** What the parts of the service hold at the moment of a scrape. */
function addMeasured({ count, gauge }: Additions, measured: Measured): void {
  const { pool, aggregator, streams, store, table, clock, server } = measured;
  gauge('tickseal_connections', 'Open WebSocket connections of all kinds.', () => server.sockets.size);
  gauge('tickseal_stream_connections', 'Open streaming connections.', () => server.sockets.streams);
  gauge('tickseal_listen_threads', 'Threads that serve REST and the sockets.', () => server.threads);
  gauge(
    'tickseal_listen_thread_frames_waiting_bytes',
    'Frames that the thread furthest behind has yet to take.',
    () => server.waiting.frameBytes,
  );
  gauge(
    'tickseal_listen_thread_events_waiting_bytes',
    'About what came from clients of one thread, the one with the most of it, and is not handled yet.',
    () => server.waiting.eventBytes,
  );
  gauge('tickseal_stream_groups', 'Sets of connections that share their frames.', () =>
    streams.reduce((sum, { groupCount }) => sum + groupCount, 0),
  );
  gauge(
    'tickseal_updates_waiting',
    'Price updates that wait for their verdict.',
    () => aggregator.updatesWaiting,
  );
  gauge('tickseal_crypto_jobs_queued', 'Signatures that wait for a worker.', () => pool.queued);
  count(
    'tickseal_crypto_worker_failures_total',
    'Batches that a crypto worker did not answer; each was done again.',
    () => pool.failures,
  );
  const live = () => table.live.reduce((sum, one) => sum + one, 0);
  gauge('tickseal_assets_live', 'Assets with a live price.', live);
  gauge(
    'tickseal_assets_stale',
    'Assets of the catalogue without a live price.',
    () => table.live.length - live(),
  );
  gauge(
    'tickseal_clock_jump_seconds',
    'How far the wall clock is ahead of the clock of the service while a jump of it is not believed; else 0.',
    () => clock.jumpSeconds,
  );
  gauge(
    'tickseal_clock_aggregates_ahead_seconds',
    'How far the time of the last signed aggregate is ahead of the clock.',
    () => clock.aggregatesAheadSeconds,
  );
  gauge(
    'tickseal_clock_streams_ahead_seconds',
    'How far the times of open streams are ahead of the clock at most.',
    () => clock.streamsAheadSeconds,
  );
  gauge(
    'tickseal_store_records_waiting',
    'Records that wait for the next commit to the disk.',
    () => store.recordsWaiting,
  );
  gauge('tickseal_store_healthy', '1 while what is accepted reaches the disk, else 0.', () =>
    Number(store.health().ok),
  );
}

function addEventLoop({ gauge }: Additions): void {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  gauge(
    'tickseal_event_loop_delay_max_seconds',
    'Longest delay of the event loop since the last scrape.',
    () => {
      const maxSeconds = delay.max / 1e9;
      delay.reset();
      return maxSeconds;
    },
  );
}
