import type { Asset, AssetIndex, FrozenRule, ListedPublisher, PublisherIndex } from '../model/asset.js';
import { parsePublisherKey } from './publisher_key.js';
import type { ConfigFile } from './schema.js';

export function toAsset(
  asset: ConfigFile['assets'][number],
  index: number,
  aggregation: ConfigFile['aggregation'],
): Asset {
  return {
    index: index as AssetIndex,
    id: asset.id,
    symbol: asset.symbol,
    signatureType: asset.signature_type,
    aggregation: asset.aggregation,
    minPublishers: asset.min_publishers,
    maxAgeNs: asset.max_age,
    clockPeriodNs: asset.clock_period,
    delta: asset.delta_percent,
    maxDeviation: asset.max_deviation_percent,
    frozen: frozenRule(asset, aggregation),
    calendar: asset.calendar,
    ...(asset.name !== undefined && { fullName: asset.name }),
    ...(asset.class !== undefined && { assetClass: asset.class }),
  };
}

export function toPublisher(publisher: ConfigFile['publishers'][number], index: number): ListedPublisher {
  return {
    index: index as PublisherIndex,
    signatureType: publisher.signature_type,
    key: parsePublisherKey(publisher.key, publisher.signature_type)!,
    oracleId: publisher.oracle_id,
    assets: new Set(publisher.assets),
    weight: publisher.weight,
  };
}

/** Returns the rule of an asset: its own time, else that of its class, else that of all assets. */
function frozenRule(
  asset: ConfigFile['assets'][number],
  { classes, frozen_after, frozen_ppm }: ConfigFile['aggregation'],
): FrozenRule | undefined {
  const ofClass = new Map(Object.entries(classes)).get(asset.class ?? '');
  const afterNs = asset.frozen_after ?? ofClass?.frozen_after ?? frozen_after;
  return afterNs === 0n ? undefined : { afterNs, ppm: BigInt(frozen_ppm) };
}
