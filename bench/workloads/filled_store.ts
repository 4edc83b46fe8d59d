import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { systemClock } from '../../src/clock/clock.js';
import { loadConfig } from '../../src/config/load.js';
import { listSegments, logFolderOf } from '../../src/log/disk/segment.js';
import { pastFolderOf } from '../../src/log/past/hour_paths.js';
import { HourWriter } from '../../src/log/past/hour_writer.js';
import { decodeHolding } from '../../src/log/records/holding.js';
import { openStore } from '../../src/log/store/store.js';
import { NS_PER_MS, NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';
import { AggregateEntries } from './log_records.js';

const SEAL_POLL_MS = 20;
/** The length of a line with five inputs. */
const LINE_BYTES = 3_500;

/**
 * Writes one aggregate of each asset and second into the data folder of a configuration, up to the present.
 * @param textBytes the size of the lines
 * @returns the size of the folder's files, which are compressed
 */
export async function fillStore(configFile: string, textBytes: number): Promise<number> {
  const loaded = loadConfig(configFile);
  assert(loaded.ok, 'the configuration of the bench is valid');
  const { assets, storage } = loaded.config;
  const clock = systemClock();
  const { dir, past, reserveBytes } = storage;
  const openFollower = () =>
    HourWriter.open({
      folder: pastFolderOf(dir),
      ...past,
      hasRepeated: false,
      isConfigured: () => true,
      clock,
    });
  const candleRetentionMs = Number(storage.candleRetentionNs / NS_PER_MS);
  const store = await openStore({ clock, dir, assets, candleRetentionMs, reserveBytes, openFollower });
  const seconds = Math.ceil(textBytes / LINE_BYTES / assets.length);
  const entries = new AggregateEntries(assets.length);
  const startNs = clock.nowNs() - BigInt(seconds) * NS_PER_SECOND;
  for (let second = 0; second < seconds; second++) {
    const timeNs = (startNs + BigInt(second) * NS_PER_SECOND) as TimeNs;
    for (const asset of assets) store.record(asset, decodeHolding(entries.next(timeNs).bytes));
    await store.durable();
  }
  // A service that is not at its limit has moved all segments but the newest.
  while (listSegments(logFolderOf(dir)).length > 1) await setTimeout(SEAL_POLL_MS);
  await store.close();
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((path) => statSync(join(dir, path)))
    .reduce((sum, stat) => sum + (stat.isFile() ? Math.min(stat.size, stat.blocks * 512) : 0), 0);
}
