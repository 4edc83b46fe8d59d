import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { pastFolderOf } from '../log/past/hour_paths.js';
import { HourWriter } from '../log/past/hour_writer.js';
import { nameOfKey } from '../log/past/past_entry.js';
import type { AssetName } from '../model/asset_map.js';
import type { Clock } from '../model/time.js';

/**
 * Opens the files of the past. A reload does not change the configured times.
 * @param isConfigured returns whether the current configuration has an asset
 */
export function openPast(
  { storage, cluster }: Pick<Config, 'storage' | 'cluster'>,
  isConfigured: (asset: AssetName) => boolean,
  clock: Clock,
  logger: Pick<Logger, 'error'>,
): Promise<HourWriter> {
  return HourWriter.open({
    folder: pastFolderOf(storage.dir),
    ...storage.past,
    hasRepeated: cluster !== undefined,
    isConfigured: (assetKey) => isConfigured(nameOfKey(assetKey)),
    clock,
    logger,
  });
}
