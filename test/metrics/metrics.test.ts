import { test } from 'tap';
import { countRejection, createCounters } from '../../src/metrics/counters.js';
import { createMetrics } from '../../src/metrics/metrics.js';

test('every metric shows its value', async (t) => {
  const counters = Object.assign(createCounters(), {
    publishMessages: 1,
    updatesAccepted: 2,
    aggregatesSigned: 3,
    signingFailures: 4,
    assetsEnded: 5,
    repliesDropped: 6,
    framesMade: 7,
    framesSkipped: 8,
    ticksSkipped: 9,
    slowConsumersClosed: 10,
    threadOverruns: 11,
    threadFailures: 12,
  });
  for (let i = 0; i < 13; i++) countRejection(counters, 'a reason');
  const health = { ok: false, reason: 'a full disk' } as const;
  const metrics = createMetrics(counters);
  metrics.measure({
    pool: { queued: 14, failures: 15 },
    aggregator: { updatesWaiting: 16 },
    streams: [{ groupCount: 8 }, { groupCount: 9 }],
    store: { health: () => health, recordsWaiting: 18 },
    table: { live: Uint8Array.from([...Array<number>(19).fill(1), ...Array<number>(20).fill(0)]) },
    clock: { jumpSeconds: 26, aggregatesAheadSeconds: 27, streamsAheadSeconds: 28 },
    server: {
      sockets: { size: 21, streams: 22 },
      threads: 23,
      waiting: { frameBytes: 24, eventBytes: 25 },
    },
  });
  const shown = async () =>
    Object.fromEntries(
      [...(await metrics.text()).matchAll(/^tickseal_(\S+) (\d+)$/gm)]
        .map(([, name, value]) => [name, Number(value)] as const)
        .filter(([name]) => !/^(?:publish_to_frame|event_loop)/.test(name!)),
    );
  const expected = {
    publish_messages_total: 1,
    updates_accepted_total: 2,
    aggregates_signed_total: 3,
    signing_failures_total: 4,
    assets_ended_total: 5,
    publisher_replies_dropped_total: 6,
    stream_frames_made_total: 7,
    stream_frames_skipped_total: 8,
    stream_ticks_skipped_total: 9,
    stream_slow_consumers_closed_total: 10,
    listen_thread_overruns_total: 11,
    listen_thread_failures_total: 12,
    crypto_jobs_queued: 14,
    crypto_worker_failures_total: 15,
    updates_waiting: 16,
    stream_groups: 17,
    store_records_waiting: 18,
    store_healthy: 0,
    assets_live: 19,
    assets_stale: 20,
    connections: 21,
    stream_connections: 22,
    listen_threads: 23,
    listen_thread_frames_waiting_bytes: 24,
    listen_thread_events_waiting_bytes: 25,
    clock_jump_seconds: 26,
    clock_aggregates_ahead_seconds: 27,
    clock_streams_ahead_seconds: 28,
  };
  t.same(await shown(), expected);
  t.match(await metrics.text(), '\ntickseal_updates_rejected_total{reason="a reason"} 13\n');
  t.same(await shown(), expected, 'a second look counts nothing twice');
});
