import type { Holding } from '../../src/log/records/holding.js';
import { endingOf, holdingOf } from '../../src/log/records/next_holding.js';
import type { ShownFacts } from '../../src/log/records/signed_line.js';
import type { Store } from '../../src/log/store/store.js';
import type { AssetName } from '../../src/model/asset_map.js';
import type { SignedAggregate } from '../../src/model/signed_price.js';
import type { TimeNs } from '../../src/model/time.js';

type Records = Pick<Store, 'newest' | 'record'>;

/** Facts that an aggregate shows. */
export const SHOWN: ShownFacts = {
  serviceName: 'service',
  encodedAssetId: 'QlRDVVNE',
  version: 'v1',
  checksum: '0'.repeat(64),
};

/** Records an asset's next aggregate, in signing order. */
export function appendTo(store: Records, aggregate: SignedAggregate): Holding {
  const holding = holdingOf(aggregate, SHOWN, store.newest(aggregate));
  store.record(aggregate, holding);
  return holding;
}

/**
 * Records that the asset has no price after `atNs`, until its next aggregate.
 * @returns `undefined` when the asset already had no price
 */
export function endIn(store: Records, asset: AssetName, atNs: TimeNs): Holding | undefined {
  const holding = endingOf(atNs, store.newest(asset));
  if (holding !== undefined) store.record(asset, holding);
  return holding;
}

/** Returns the asset's last aggregate; `undefined` when the asset has no aggregate, or when its price has ended. */
export function latestIn(store: Pick<Store, 'newest'>, asset: AssetName): SignedAggregate | undefined {
  return store.newest(asset)?.aggregate;
}
