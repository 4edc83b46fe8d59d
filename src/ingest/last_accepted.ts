import type { Asset, Publisher } from '../model/asset.js';
import type { PublisherWire } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import { PairMap } from './pair_map.js';

/** The texts of an update that make it this one and no other. */
export type UpdateTexts = Omit<PublisherWire, 'publisherKey'>;

/** An update and its texts as they came. */
export interface ReceivedUpdate {
  readonly timestampNs: TimeNs;
  readonly raw: UpdateTexts;
}

/** The update that was accepted last of each publisher for each asset, as it came: to know one that comes again. */
export class LastAccepted {
  readonly #lastOf = new PairMap<ReceivedUpdate>();

  put(asset: Asset, publisher: Publisher, update: ReceivedUpdate): void {
    this.#lastOf.set(asset, publisher, update);
  }

  /** Whether this is exactly that update. */
  is(asset: Asset, publisher: Publisher, { timestampNs, raw }: ReceivedUpdate): boolean {
    const last = this.#lastOf.get(asset, publisher);
    return last !== undefined && last.timestampNs === timestampNs && isSame(last.raw, raw);
  }
}

function isSame(one: UpdateTexts, other: UpdateTexts): boolean {
  return (
    one.r === other.r &&
    one.s === other.s &&
    one.v === other.v &&
    one.msgHash === other.msgHash &&
    one.price === other.price &&
    one.externalAssetId === other.externalAssetId &&
    one.metadata === other.metadata
  );
}
