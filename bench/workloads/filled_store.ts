import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/clock/clock.js';
import { loadConfig } from '../../src/config/load.js';
import { NS_PER_MS, NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';
import { decodeHolding } from '../../src/records/holding.js';
import { DATA_FILE } from '../../src/store/data_folder.js';
import { openStore } from '../../src/store/store.js';
import { AggregateEntries } from './log_records.js';

/** The bytes of a record with five inputs, including page overhead. The measured size may be larger. */
const RECORD_BYTES = 3_500;

/**
 * Writes one aggregate of each asset and second into the data folder of a configuration, up to the present.
 * @param bytesMin the smallest size of the folder's file
 * @returns the size of the file
 */
export async function fillStore(configFile: string, bytesMin: number): Promise<number> {
  const loaded = loadConfig(configFile);
  assert(loaded.ok, 'the configuration of the bench is valid');
  const { assets, storage } = loaded.config;
  const clock = systemClock();
  const options = {
    clock,
    dir: storage.dir,
    assets,
    candleRetentionMs: Number(storage.candleRetentionNs / NS_PER_MS),
  };
  const store = await openStore({ ...options, reserveBytes: storage.reserveBytes });
  const file = join(storage.dir, DATA_FILE);
  const seconds = Math.ceil(bytesMin / RECORD_BYTES / assets.length);
  const entries = new AggregateEntries(assets.length);
  const startNs = clock.nowNs() - BigInt(seconds) * NS_PER_SECOND;
  for (let second = 0; second < seconds; second++) {
    const timeNs = (startNs + BigInt(second) * NS_PER_SECOND) as TimeNs;
    for (const asset of assets) {
      const { bytes } = entries.next(timeNs);
      store.record(asset, decodeHolding(bytes));
    }
    await store.durable();
    if (statSync(file).size >= bytesMin) break;
  }
  await store.close();
  return statSync(file).size;
}
