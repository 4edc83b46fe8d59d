import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { ALGORITHM_VERSION, algorithmChecksum } from '../crypto/algorithm_definition.js';
import { encodedAssetId } from '../crypto/evm.js';
import type { Asset } from '../model/asset.js';
import type { Clock } from '../model/time.js';
import type { ShownFacts } from '../past/kept_entry.js';
import { pastFolderOf } from '../past/past_folder.js';
import type { PastOptions } from '../past/past_writer.js';
import type { Holding } from '../records/second_record.js';
import type { Store } from '../store/store.js';

/** Returns the options of the past from a configuration. A reload does not change these options. */
export function pastOptions(
  config: Config,
  clock: Clock,
  logger: Pick<Logger, 'warn' | 'error'>,
): PastOptions {
  const { service, storage } = config;
  const known = new Map<string, ShownFacts>();
  return {
    folder: pastFolderOf(storage.dir),
    proofsNs: storage.past.proofsNs,
    signaturesNs: storage.past.signaturesNs,
    hasRepeated: config.cluster !== undefined,
    clock,
    logger,
    shown(symbol, algorithm) {
      const key = `${algorithm} ${symbol}`;
      let facts = known.get(key);
      if (facts === undefined) {
        facts = {
          serviceName: service.name,
          encodedAssetId: encodedAssetId(symbol, service.encodedAssetId),
          version: ALGORITHM_VERSION,
          checksum: algorithmChecksum(algorithm),
        };
        known.set(key, facts);
      }
      return facts;
    },
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
