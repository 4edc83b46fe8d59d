import { test } from 'tap';
import {
  countBudgetRefusal,
  countReason,
  countRejection,
  createCounters,
  sumOf,
} from '../../../src/model/counters.js';
import { createMetrics, METRICS } from '../../../src/service/metrics/metrics.js';
import type { ServiceState, StoreState } from '../../../src/service/metrics/state.js';
import {
  SAMPLE_CLUSTER,
  SAMPLE_FIGURES,
  SAMPLE_PUBLIC_LOG,
  SAMPLE_STATE,
  sampleText,
} from './sample_state.js';

const WHOLE_STATE = { ...SAMPLE_STATE, cluster: SAMPLE_CLUSTER, publicLog: SAMPLE_PUBLIC_LOG };

/** Returns the lines of the service's metrics that are no parts of histograms, without the prefix of all names. */
function samplesOf(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.startsWith('tickseal_'));
  return lines
    .filter((line) => !/_seconds_(?:bucket|sum|count)/.test(line))
    .map((line) => line.slice('tickseal_'.length));
}

test('every metric is written once, with its value', async (t) => {
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
    aggregatesDropped: 30,
    deltasHeld: 33,
    connectionsRefused: 32,
    eventLoopStalls: 31,
  });
  for (let i = 0; i < 13; i++) countRejection(counters, 'a reason');
  for (const limit of ['a_limit', 'another'])
    for (let i = 0; i < 3; i++) countBudgetRefusal(counters, limit, 'alice');
  const metrics = createMetrics();
  metrics.measure({
    pool: { queued: 14, failures: 15 },
    maker: { updatesWaiting: 16 },
    store: {
      health: () => ({ ok: false, reason: 'a full disk' }),
      recordsWaiting: 18,
      figures: () => SAMPLE_FIGURES,
    },
    state: () => WHOLE_STATE,
    assets: () => ({ listed: 39, live: 19 }),
    clock: () => ({ jumps: 126, jumpSeconds: 26, aggregatesAheadSeconds: 27 }),
    edges: () => ({ threads: 23, feedBytesWaiting: 24 }),
  });
  const edge = { connections: 20, streamConnections: 20, streamGroups: 8, streamsAheadSeconds: 28 };
  const other = { connections: 1, streamConnections: 2, streamGroups: 9, streamsAheadSeconds: 5 };
  const scrape = { counters, edges: [edge, other], lateNsMax: 29_000_000_000n };
  const text = await metrics.text(scrape);
  t.same(samplesOf(text), [
    'publish_messages_total 1',
    'updates_accepted_total 2',
    'updates_rejected_total{reason="a reason"} 13',
    'connections_refused_total 32',
    'aggregates_signed_total 3',
    'budget_refusals_total{limit="a_limit",caller="alice"} 3',
    'budget_refusals_total{limit="another",caller="alice"} 3',
    'signing_failures_total 4',
    'aggregates_dropped_total 30',
    'delta_moves_held_total 33',
    'assets_ended_total 5',
    'publisher_replies_dropped_total 6',
    'stream_frames_made_total 7',
    'stream_frames_skipped_total 8',
    'stream_ticks_skipped_total 9',
    'stream_slow_consumers_closed_total 10',
    'listen_thread_failures_total 12',
    'listen_thread_overruns_total 11',
    'event_loop_stalls_total 31',
    'connections 21',
    'stream_connections 22',
    'stream_groups 17',
    'clock_streams_ahead_seconds 28',
    'listen_threads 23',
    'listen_thread_feed_waiting_bytes 24',
    'updates_waiting 16',
    'crypto_jobs_queued 14',
    'crypto_worker_failures_total 15',
    'assets_live 19',
    'assets_stale 20',
    'clock_jumps_total 126',
    'clock_jump_seconds 26',
    'clock_aggregates_ahead_seconds 27',
    'store_records_waiting 18',
    'store_healthy 0',
    'event_loop_delay_max_seconds 29',
    'build_info{version="1.2.3",commit="abcdef0",secp256k1="native"} 1',
    'config_info{sha256="c0ffee"} 1',
    'config_last_reload_successful 0',
    'config_last_reload_timestamp_seconds 40',
    'certificate_expiry_timestamp_seconds 41',
    'keys_not_announced 1',
    'next_key_not_announced_timestamp_seconds 49',
    'announcement_expiry_timestamp_seconds 48',
    'ready 1',
    'clock_healthy 0',
    'store_bytes 42',
    'log_segment 48',
    'log_segments_waiting 49',
    'store_free_bytes 43',
    'store_last_commit_timestamp_seconds 44',
    'store_oldest_timestamp_seconds 172800',
    'past_bytes 45',
    'past_max_bytes 480',
    'past_files 46',
    'past_damage 1',
    'past_oldest_timestamp_seconds 47',
    'asset_inputs{asset="BTCUSD",signature_type="evm"} 3',
    'asset_inputs{asset="BTCUSD",signature_type="stark"} 0',
    'publisher_frozen{asset="BTCUSD",signature_type="evm",publisher="0xbb"} 1',
    'asset_last_update_timestamp_seconds{asset="BTCUSD",signature_type="evm"} 45.5',
    'publisher_last_update_timestamp_seconds{publisher="0xaa",signature_type="evm"} 46',
    'cluster_role{role="leader"} 0',
    'cluster_role{role="standby"} 1',
    'cluster_role{role="edge"} 0',
    'cluster_epoch 51',
    'cluster_log_lag_records 52',
    'cluster_log_lag_seconds 5.3',
    'cluster_ticks_silent_seconds 0.54',
    'cluster_tick_gaps_total 55',
    'cluster_refused_writes_total 56',
    'cluster_refused_messages_total 60',
    'cluster_skipped_records_total 57',
    'cluster_standbys 57',
    'cluster_nodes 58',
    'cluster_log_copies 59',
    'cluster_forgetful_servers 61',
    'tlog_size 62',
    'tlog_checkpoint_age_seconds 6.3',
    'tlog_max_delay_seconds 30',
    'tlog_witnesses 2',
    'tlog_quorum 0',
    'tlog_stopped 1',
  ]);
  t.same(samplesOf(await metrics.text(scrape)), samplesOf(text), 'a second look counts nothing twice');
  const heads = [...text.matchAll(/^# HELP (\S+) .*\n# TYPE \1 (\w+)$/gm)].map(
    ([, name, type]) => `${name} ${type}`,
  );
  const table = METRICS.map(({ name, type }) => `${name} ${type}`);
  t.same(heads.slice(-table.length), table);
  t.ok(heads.slice(0, -table.length).every((name) => /^(?:process|nodejs)_/.test(name)));
  t.match(
    await createMetrics().text({ counters: createCounters(), edges: [], lateNsMax: 0n }),
    'process_cpu',
  );
});

test('the metrics are named by the conventions', async (t) => {
  for (const { name, type } of METRICS) {
    t.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
    if (/delay|latency|_to_/.test(name)) t.match(name, /_(?:seconds|bytes|total|info|ratio)$/);
    t.notMatch(name, /_(?:ns|us|ms|millis\w*|minutes|hours|kb|kib|mb|mib|percent)(?:_|$)/);
  }
});

test('what has no value has no line', async (t) => {
  const without = async (state: ServiceState, figures: StoreState = SAMPLE_FIGURES) => {
    const store = { health: () => ({ ok: true }), recordsWaiting: 0, figures: () => figures };
    const shown = samplesOf(await sampleText({ state: () => state, store }));
    const whole = samplesOf(await sampleText({ state: () => WHOLE_STATE }));
    const nameOf = (line: string) => line.split(' ')[0];
    return whole.map(nameOf).filter((name) => !shown.map(nameOf).includes(name));
  };
  t.same(await without({ ...WHOLE_STATE, certificateEndSeconds: undefined, announced: undefined }), [
    'certificate_expiry_timestamp_seconds',
    'keys_not_announced',
    'next_key_not_announced_timestamp_seconds',
    'announcement_expiry_timestamp_seconds',
  ]);
  const past = { bytes: 0, bytesMax: undefined, files: 0, oldestS: undefined, damage: [] };
  const empty = { ...SAMPLE_FIGURES, committedAtMs: undefined, oldestDay: undefined, past };
  t.same(await without(WHOLE_STATE, empty), [
    'store_last_commit_timestamp_seconds',
    'store_oldest_timestamp_seconds',
    'past_max_bytes',
    'past_oldest_timestamp_seconds',
  ]);
  t.same(await without({ ...WHOLE_STATE, cluster: { ...SAMPLE_CLUSTER, logCopies: undefined } }), [
    'cluster_log_copies',
  ]);
  t.ok((await without(SAMPLE_STATE)).every((name) => /^(?:cluster|tlog)_/.test(name!)));
  t.notMatch(samplesOf(await sampleText({ state: () => SAMPLE_STATE })).join(), /cluster_|tlog_/);
});

test('the log of streams has the names of the public log, and a label', async (t) => {
  const streamLog = { ...SAMPLE_PUBLIC_LOG, size: 63, checkpointAgeSeconds: undefined };
  const shown = async (state: ServiceState) =>
    samplesOf(await sampleText({ state: () => state })).filter((line) =>
      /^tlog_(?:size|checkpoint_age|stopped)/.test(line),
    );
  t.same(await shown({ ...SAMPLE_STATE, publicLog: { ...SAMPLE_PUBLIC_LOG, size: 0 }, streamLog }), [
    'tlog_size 0',
    'tlog_size{log="streams"} 63',
    'tlog_checkpoint_age_seconds 6.3',
    'tlog_stopped 1',
    'tlog_stopped{log="streams"} 1',
  ]);
  t.same(await shown({ ...SAMPLE_STATE, streamLog }), [
    'tlog_size{log="streams"} 63',
    'tlog_stopped{log="streams"} 1',
  ]);
});

test('the counts of threads are added up', async (t) => {
  const one = createCounters();
  const other = createCounters();
  one.framesMade = 2;
  other.framesMade = 3;
  countReason(one.loginsRefused, 'unknown');
  countReason(other.loginsRefused, 'unknown');
  countReason(other.loginsRefused, 'missing');
  countBudgetRefusal(one, 'a_limit', 'alice');
  countBudgetRefusal(other, 'a_limit', 'alice');
  countBudgetRefusal(other, 'another', 'bob');
  one.frameLatency.buckets[1] = 4;
  one.frameLatency.sumSeconds = 0.5;
  other.frameLatency.buckets[1] = 5;
  const sum = sumOf([one, other]);
  t.equal(sum.framesMade, 5);
  t.same(
    sum.loginsRefused,
    new Map([
      ['unknown', 2],
      ['missing', 1],
    ]),
  );
  t.same(
    sum.budgetRefusals,
    new Map([
      ['a_limit', new Map([['alice', 2]])],
      ['another', new Map([['bob', 1]])],
    ]),
  );
  t.equal(sum.frameLatency.buckets[1], 9);
  t.equal(sum.frameLatency.sumSeconds, 0.5);
  t.same(sumOf([sum, createCounters()]), sum);
  t.equal(one.framesMade, 2, 'what is added up stays');
});

test('past a thousand callers the refusals of others are counted together', async (t) => {
  const counters = createCounters();
  for (let caller = 1; caller <= 1_005; caller++) countBudgetRefusal(counters, 'a_limit', `token ${caller}`);
  countBudgetRefusal(counters, 'a_limit', 'token 1');
  const byCaller = counters.budgetRefusals.get('a_limit')!;
  t.equal(byCaller.size, 1_001);
  t.equal(byCaller.get('token 1'), 2);
  t.equal(byCaller.get('others'), 5);
});
