import { test } from 'tap';
import {
  countBudgetRefusal,
  countReason,
  countRejection,
  createCounters,
  sumOf,
} from '../../../src/model/counters.js';
import { createMetrics, METRICS } from '../../../src/service/metrics/metrics.js';
import {
  SAMPLE_CLUSTER,
  SAMPLE_FIGURES,
  SAMPLE_PUBLIC_LOG,
  SAMPLE_STATE,
  sampleText,
} from './sample_state.js';

/** The metrics of `state.ts`; `state.test.ts` tests them. */
const STATE = /^(?:config|ready|certificate|clock_healthy|past|store_(?:bytes|free|last|oldest))/;

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
    aggregatesDropped: 30,
    deltasHeld: 33,
    connectionsRefused: 32,
    eventLoopStalls: 31,
  });
  for (let i = 0; i < 13; i++) countRejection(counters, 'a reason');
  for (const limit of ['a_limit', 'another'])
    for (let i = 0; i < 3; i++) countBudgetRefusal(counters, limit, 'alice');
  const health = { ok: false, reason: 'a full disk' } as const;
  const metrics = createMetrics();
  metrics.measure({
    pool: { queued: 14, failures: 15 },
    maker: { updatesWaiting: 16 },
    store: { health: () => health, recordsWaiting: 18, figures: () => SAMPLE_FIGURES },
    state: () => SAMPLE_STATE,
    assets: () => ({ listed: 39, live: 19 }),
    clock: () => ({ jumps: 126, jumpSeconds: 26, aggregatesAheadSeconds: 27 }),
    edges: () => ({ threads: 23, feedBytesWaiting: 24 }),
  });
  const edge = { connections: 20, streamConnections: 20, streamGroups: 8, streamsAheadSeconds: 28 };
  const other = { connections: 1, streamConnections: 2, streamGroups: 9, streamsAheadSeconds: 5 };
  const scrape = { counters, edges: [edge, other], lateNsMax: 29_000_000_000n };
  const shown = async () =>
    Object.fromEntries(
      [...(await metrics.text(scrape)).matchAll(/^tickseal_(\w+) (\d+)$/gm)]
        .map(([, name, value]) => [name, Number(value)] as const)
        .filter(([name]) => !/^(?:publish_to_frame|budget)/.test(name!) && !STATE.test(name!)),
    );
  const expected = {
    publish_messages_total: 1,
    updates_accepted_total: 2,
    aggregates_signed_total: 3,
    signing_failures_total: 4,
    aggregates_dropped_total: 30,
    delta_moves_held_total: 33,
    connections_refused_total: 32,
    assets_ended_total: 5,
    publisher_replies_dropped_total: 6,
    stream_frames_made_total: 7,
    stream_frames_skipped_total: 8,
    stream_ticks_skipped_total: 9,
    stream_slow_consumers_closed_total: 10,
    listen_thread_overruns_total: 11,
    listen_thread_failures_total: 12,
    event_loop_stalls_total: 31,
    crypto_jobs_queued: 14,
    crypto_worker_failures_total: 15,
    updates_waiting: 16,
    stream_groups: 17,
    store_records_waiting: 18,
    store_healthy: 0,
    keys_not_announced: 1,
    next_key_not_announced_timestamp_seconds: 49,
    announcement_expiry_timestamp_seconds: 48,
    assets_live: 19,
    assets_stale: 20,
    connections: 21,
    stream_connections: 22,
    listen_threads: 23,
    listen_thread_feed_waiting_bytes: 24,
    clock_jumps_total: 126,
    clock_jump_seconds: 26,
    clock_aggregates_ahead_seconds: 27,
    clock_streams_ahead_seconds: 28,
    event_loop_delay_max_seconds: 29,
  };
  t.same(await shown(), expected);
  t.match(await metrics.text(scrape), '\ntickseal_updates_rejected_total{reason="a reason"} 13\n');
  t.match(await metrics.text(scrape), '\ntickseal_budget_refusals_total{limit="another",caller="alice"} 3\n');
  t.same(await shown(), expected, 'a second look counts nothing twice');
});

test('every metric of the table is written once, behind those of the process', async (t) => {
  const text = await sampleText({
    state: () => ({ ...SAMPLE_STATE, cluster: SAMPLE_CLUSTER, publicLog: SAMPLE_PUBLIC_LOG }),
  });
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
