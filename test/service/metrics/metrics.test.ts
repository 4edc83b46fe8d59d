import { test } from 'tap';
import {
  countBudgetRefusal,
  countReason,
  countRejection,
  createCounters,
  sumOf,
} from '../../../src/model/counters.js';
import { createMetrics, METRICS } from '../../../src/service/metrics/metrics.js';
import { promtool } from '../../deploy/prometheus.js';
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
    updatesAccepted: 2,
    framesSkipped: 8,
    threadFailures: 12,
  });
  for (let i = 0; i < 13; i++) countRejection(counters, 'a reason');
  for (let i = 0; i < 3; i++) countBudgetRefusal(counters, 'a_limit', 'alice');
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
  const samples = samplesOf(text);
  t.same([...new Set(samples)], samples);
  const expected = [
    'updates_accepted_total 2',
    'updates_rejected_total{reason="a reason"} 13',
    'budget_refusals_total{limit="a_limit",caller="alice"} 3',
    'stream_frames_skipped_total 8',
    'connections 21',
    'clock_streams_ahead_seconds 28',
    'updates_waiting 16',
    'crypto_jobs_queued 14',
    'assets_stale 20',
    'store_healthy 0',
    'build_info{version="1.2.3",commit="abcdef0",secp256k1="native"} 1',
    'next_key_not_announced_timestamp_seconds 49',
    'ready 1',
    'log_segments_waiting 49',
    'store_oldest_timestamp_seconds 172800',
    'asset_inputs{asset="BTCUSD",signature_type="evm"} 3',
    'publisher_frozen{asset="BTCUSD",signature_type="evm",publisher="0xbb"} 1',
    'publisher_last_update_timestamp_seconds{publisher="0xaa",signature_type="evm"} 46',
    'cluster_role{role="standby"} 1',
    'cluster_log_lag_records 52',
    'tlog_checkpoint_age_seconds 6.3',
    'tlog_stopped 1',
  ];
  t.same(
    expected.filter((sample) => !samples.includes(sample)),
    [],
  );
  t.same(samplesOf(await metrics.text(scrape)), samplesOf(text), 'a second look counts nothing twice');
  const heads = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  const table = METRICS.map(({ name, type }) => `${name} ${type}`);
  t.same(heads.slice(-table.length), table);
  const checked = promtool(['check', 'metrics'], text);
  t.notMatch(checked?.output ?? '', /tickseal_|error while/, 'promtool has nothing to say');
});

test('what has no value has no line', async (t) => {
  const shown = samplesOf(await sampleText({ state: () => ({ ...SAMPLE_STATE, announced: undefined }) }));
  t.notMatch(shown.join(), /cluster_|tlog_|keys_not_announced/);
});

test('the counts of threads are added up', async (t) => {
  const one = createCounters();
  const other = createCounters();
  one.framesMade = 2;
  other.framesMade = 3;
  countReason(one.loginsRefused, 'unknown');
  countReason(other.loginsRefused, 'unknown');
  for (const counters of [one, other]) countBudgetRefusal(counters, 'a_limit', 'alice');
  one.frameLatency.buckets[1] = 4;
  other.frameLatency.buckets[1] = 5;
  const sum = sumOf([one, other]);
  t.equal(sum.framesMade, 5);
  t.same(sum.loginsRefused, new Map([['unknown', 2]]));
  t.same(sum.budgetRefusals, new Map([['a_limit', new Map([['alice', 2]])]]));
  t.equal(sum.frameLatency.buckets[1], 9);
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
