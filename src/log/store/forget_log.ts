import type { Clock } from '../../model/time.js';
import { openStore } from './store.js';

/**
 * Makes the node of a data folder read another log. The new log begins after all records of the folder. No process may have the folder
 * open.
 * @throws Error as {@link openStore}
 */
export async function forgetLog(dir: string, clock: Clock): Promise<void> {
  // This retention keeps the candles of all assets, including assets with a shorter configured retention.
  const store = await openStore({ dir, assets: [], candleRetentionMs: Number.MAX_SAFE_INTEGER, clock });
  store.log.position = undefined;
  // Only the forgotten log has the aggregates that a killed node served before they were in the folder.
  if (!store.isClean) store.lost();
  await store.close();
}
