import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import type { Asset } from '../model/asset.js';
import type { Clock } from '../model/time.js';
import { pastFolderOf } from '../past/past_folder.js';
import type { PastOptions } from '../past/past_writer.js';
import type { Holding } from '../records/holding.js';
import type { Store } from '../store/store.js';
import { shownFacts } from './shown_facts.js';

/** Returns the options of the past from a configuration. A reload does not change these options. */
export function pastOptions(
  config: Config,
  clock: Clock,
  logger: Pick<Logger, 'warn' | 'error'>,
): PastOptions {
  const { storage } = config;
  return {
    folder: pastFolderOf(storage.dir),
    proofsNs: storage.past.proofsNs,
    signaturesNs: storage.past.signaturesNs,
    hasRepeated: config.cluster !== undefined,
    clock,
    logger,
    shown: shownFacts(config),
  };
}

/** Returns the newest holdings of the assets. */
export function holdingsOf(
  assets: readonly Asset[],
  store: Pick<Store, 'newest'>,
): { readonly asset: Asset; readonly holding: Holding }[] {
  return assets.flatMap((asset) => {
    const holding = store.newest(asset);
    return holding === undefined ? [] : [{ asset, holding }];
  });
}
