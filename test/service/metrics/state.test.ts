import { test } from 'tap';
import type { ServiceState, StoreState } from '../../../src/service/metrics/state.js';
import {
  SAMPLE_CLUSTER,
  SAMPLE_FIGURES,
  SAMPLE_PUBLIC_LOG,
  SAMPLE_STATE,
  sampleText,
} from './sample_state.js';

/** Returns the lines of the state. The state begins with this metric and continues to the end. */
async function samplesOf(state: ServiceState, figures: StoreState): Promise<string[]> {
  const store = { health: () => ({ ok: true }), recordsWaiting: 0, figures: () => figures };
  const text = await sampleText({ state: () => state, store });
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.slice(lines.findIndex((line) => line.startsWith('tickseal_build_info')));
}

test('the state is told, and what has no value has no line', async (t) => {
  t.same(await samplesOf(SAMPLE_STATE, SAMPLE_FIGURES), [
    'tickseal_build_info{version="1.2.3",commit="abcdef0",secp256k1="native"} 1',
    'tickseal_config_info{sha256="c0ffee"} 1',
    'tickseal_config_last_reload_successful 0',
    'tickseal_config_last_reload_timestamp_seconds 40',
    'tickseal_certificate_expiry_timestamp_seconds 41',
    'tickseal_keys_not_announced 1',
    'tickseal_next_key_not_announced_timestamp_seconds 49',
    'tickseal_announcement_expiry_timestamp_seconds 48',
    'tickseal_ready 1',
    'tickseal_clock_healthy 0',
    'tickseal_store_bytes 42',
    'tickseal_store_free_bytes 43',
    'tickseal_store_last_commit_timestamp_seconds 44',
    'tickseal_store_oldest_timestamp_seconds 172800',
    'tickseal_past_bytes 45',
    'tickseal_past_max_bytes 480',
    'tickseal_past_files 46',
    'tickseal_past_damage 1',
    'tickseal_past_oldest_timestamp_seconds 47',
    'tickseal_asset_inputs{asset="BTCUSD",signature_type="evm"} 3',
    'tickseal_asset_inputs{asset="BTCUSD",signature_type="stark"} 0',
    'tickseal_publisher_frozen{asset="BTCUSD",signature_type="evm",publisher="0xbb"} 1',
    'tickseal_asset_last_update_timestamp_seconds{asset="BTCUSD",signature_type="evm"} 45.5',
    'tickseal_publisher_last_update_timestamp_seconds{publisher="0xaa",signature_type="evm"} 46',
  ]);
  const figures = {
    ...SAMPLE_FIGURES,
    committedAtMs: undefined,
    oldestDay: undefined,
    past: { bytes: 0, bytesMax: undefined, files: 0, oldestS: undefined, damage: [] },
  };
  const without = await samplesOf(
    { ...SAMPLE_STATE, certificateEndSeconds: undefined, announced: undefined },
    figures,
  );
  t.equal(without.length, 16);
  t.notMatch(without.join(), /certificate|announce|last_commit|oldest/);
});

test('a node of a cluster tells more', async (t) => {
  const alone = await samplesOf(SAMPLE_STATE, SAMPLE_FIGURES);
  const node = await samplesOf(
    { ...SAMPLE_STATE, cluster: SAMPLE_CLUSTER, publicLog: SAMPLE_PUBLIC_LOG },
    SAMPLE_FIGURES,
  );
  t.same(node.slice(0, alone.length), alone);
  t.same(node.slice(alone.length), [
    'tickseal_cluster_role{role="leader"} 0',
    'tickseal_cluster_role{role="standby"} 1',
    'tickseal_cluster_role{role="edge"} 0',
    'tickseal_cluster_epoch 51',
    'tickseal_cluster_log_lag_records 52',
    'tickseal_cluster_log_lag_seconds 5.3',
    'tickseal_cluster_ticks_silent_seconds 0.54',
    'tickseal_cluster_tick_gaps_total 55',
    'tickseal_cluster_refused_writes_total 56',
    'tickseal_cluster_refused_messages_total 60',
    'tickseal_cluster_skipped_records_total 57',
    'tickseal_cluster_standbys 57',
    'tickseal_cluster_nodes 58',
    'tickseal_cluster_log_copies 59',
    'tickseal_cluster_forgetful_servers 61',
    'tickseal_tlog_size 62',
    'tickseal_tlog_checkpoint_age_seconds 6.3',
    'tickseal_tlog_max_delay_seconds 30',
    'tickseal_tlog_witnesses 2',
    'tickseal_tlog_quorum 0',
    'tickseal_tlog_stopped 1',
  ]);
  const streamLog = { ...SAMPLE_PUBLIC_LOG, size: 63, checkpointAgeSeconds: undefined };
  const both = await samplesOf(
    { ...SAMPLE_STATE, publicLog: { ...SAMPLE_PUBLIC_LOG, size: 0 }, streamLog },
    SAMPLE_FIGURES,
  );
  t.same(
    both.filter((line) => /tlog_(size|checkpoint_age)/.test(line)),
    [
      'tickseal_tlog_size 0',
      'tickseal_tlog_size{log="streams"} 63',
      'tickseal_tlog_checkpoint_age_seconds 6.3',
    ],
  );
  const streams = await samplesOf({ ...SAMPLE_STATE, streamLog }, SAMPLE_FIGURES);
  t.ok(streams.includes('tickseal_tlog_stopped{log="streams"} 1'));
  t.notMatch(streams.join(), 'tickseal_tlog_checkpoint_age_seconds');
  const edge = { ...SAMPLE_CLUSTER, logCopies: undefined };
  t.notMatch(await sampleText({ state: () => ({ ...SAMPLE_STATE, cluster: edge }) }), 'cluster_log_copies');
  t.notMatch(await sampleText({}), 'tickseal_cluster');
});
