import type { Clock } from '../model/time.js';
import { openStore } from './store.js';

/**
 * Has the node of a data folder read another log, which begins after all that the folder has. No process may have the folder.
 * @throws Error as {@link openStore}
 */
export async function forgetLog(dir: string, clock: Clock): Promise<void> {
  // Without assets nothing else in the folder changes.
  const store = await openStore({ dir, assets: [], candleRetentionMs: 0, clock });
  store.log.position = undefined;
  await store.close();
}
