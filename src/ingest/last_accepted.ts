import type { Asset, Publisher } from '../model/asset.js';
import type { PublisherWire } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';

/** The texts of an update that make it this one and no other. */
export type UpdateTexts = Omit<PublisherWire, 'publisherKey'>;

interface Last {
  readonly timestampNs: TimeNs;
  readonly texts: UpdateTexts;
}

/** The update that was accepted last of each publisher for each asset, as it came: to know one that comes again. */
export class LastAccepted {
  readonly #lastOf = new Map<Asset['index'], Map<Publisher['index'], Last>>();

  put({ index }: Asset, publisher: Publisher, timestampNs: TimeNs, texts: UpdateTexts): void {
    let ofAsset = this.#lastOf.get(index);
    if (ofAsset === undefined) {
      ofAsset = new Map();
      this.#lastOf.set(index, ofAsset);
    }
    ofAsset.set(publisher.index, { timestampNs, texts });
  }

  /** Whether this is exactly that update. */
  is({ index }: Asset, publisher: Publisher, timestampNs: TimeNs, texts: UpdateTexts): boolean {
    const last = this.#lastOf.get(index)?.get(publisher.index);
    return last !== undefined && last.timestampNs === timestampNs && isSame(last.texts, texts);
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
