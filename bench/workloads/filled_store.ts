import assert from 'node:assert/strict';
import { pause } from '../../scripts/load/wait.js';
import { loadConfig } from '../../src/config/load.js';
import { listSegments, logFolderOf } from '../../src/log/disk/segment.js';
import { pastFolderOf } from '../../src/log/past/hour_paths.js';
import { HourWriter } from '../../src/log/past/hour_writer.js';
import { decodeHolding } from '../../src/log/records/holding.js';
import { openStore } from '../../src/log/store/store.js';
import { NS_PER_MS, NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';
import { AggregateEntries } from './log_records.js';

const SEAL_POLL_MS = 20;
/** The number of aggregates between two waits for the disk. */
const DURABLE_EACH = 1_000;

export interface FilledStore {
  /** The first asset with aggregates, and the number of such assets. */
  readonly first: number;
  readonly assets: number;
  /** The number of aggregates of each asset. */
  readonly aggregates: number;
  /** The time between two aggregates of an asset, in seconds. */
  readonly stepS: number;
  /** True to write the aggregates into the files of their hours too, and not only into candles. */
  readonly hasPast: boolean;
}

/**
 * Writes aggregates into the data folder of a configuration, up to the last full step.
 * @returns the time after the last step, in UNIX seconds
 */
export async function fillStore(configFile: string, filled: FilledStore): Promise<number> {
  const loaded = loadConfig(configFile);
  assert(loaded.ok, 'the configuration of the bench is valid');
  const { assets, storage } = loaded.config;
  const { dir, past, reserveBytes } = storage;
  const { aggregates, stepS, hasPast } = filled;
  const toS = Math.floor(Date.now() / 1_000 / stepS) * stepS;
  let nowNs = timeOf(toS - aggregates * stepS);
  const clock = { nowNs: () => nowNs };
  const hours = { folder: pastFolderOf(dir), ...past, hasRepeated: false, isConfigured: () => true, clock };
  const candleRetentionMs = Number(storage.candleRetentionNs / NS_PER_MS);
  const options = { clock, dir, assets, candleRetentionMs, reserveBytes };
  const store = await openStore(
    hasPast ? { ...options, openFollower: () => HourWriter.open(hours) } : options,
  );
  const entries = new AggregateEntries(filled.assets, filled.first);
  const those = assets.slice(filled.first, filled.first + filled.assets);
  for (let step = 0, recorded = 0; step < aggregates; step++) {
    nowNs = timeOf(toS - (aggregates - step) * stepS);
    for (const asset of those) {
      store.record(asset, decodeHolding(entries.next(nowNs).bytes));
      if (++recorded % DURABLE_EACH === 0) await store.durable();
    }
  }
  await store.durable();
  // A service that is not at its limit has moved all segments but the newest.
  while (hasPast && listSegments(logFolderOf(dir)).length > 1) await pause(SEAL_POLL_MS);
  await store.close();
  return toS;
}

function timeOf(seconds: number): TimeNs {
  return (BigInt(seconds) * NS_PER_SECOND) as TimeNs;
}
