import type { Asset, ListedPublisher } from '../model/asset.js';
import type { PublisherPrice, PublisherWire } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import { PairMap } from './pair_map.js';

/** The texts of an update that identify it. */
export type UpdateTexts = Omit<PublisherWire, 'publisherKey'>;

/** An update and its texts as they came. */
export interface ReceivedUpdate {
  readonly asset: Asset;
  readonly publisher: ListedPublisher;
  readonly timestampNs: TimeNs;
  readonly raw: UpdateTexts;
}

/** The last accepted update of each publisher for each asset, as it came: recognises one that comes again. */
export class LastAccepted {
  readonly #lastOf = new PairMap<PublisherPrice>();

  put(asset: Asset, publisher: ListedPublisher, input: PublisherPrice): void {
    this.#lastOf.set(asset, publisher, input);
  }

  /** Tells whether this is exactly that update. */
  is({ asset, publisher, timestampNs, raw }: ReceivedUpdate): boolean {
    const last = this.#lastOf.get(asset, publisher);
    return (
      last !== undefined &&
      last.timestampNs === timestampNs &&
      last.wire.metadata === raw.metadata &&
      isSigned(last.wire, raw)
    );
  }

  /**
   * Tells whether this has the signature of that update, over the same texts. They are compared one by one, since the hash is
   * only declared by the publisher until it is recomputed. Beside these texts a signature covers only the second, which may
   * differ.
   */
  isSigned({ asset, publisher, raw }: ReceivedUpdate): boolean {
    const last = this.#lastOf.get(asset, publisher);
    return last !== undefined && isSigned(last.wire, raw);
  }
}

function isSigned(one: UpdateTexts, other: UpdateTexts): boolean {
  return (
    one.r === other.r &&
    one.s === other.s &&
    one.v === other.v &&
    one.msgHash === other.msgHash &&
    one.price === other.price &&
    one.externalAssetId === other.externalAssetId
  );
}
