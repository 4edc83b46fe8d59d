import type { Asset, ListedPublisher } from '../model/asset.js';
import type { PublisherPrice, PublisherWire } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import { PairMap } from './pair_map.js';

/** The texts that identify an update. */
export type UpdateTexts = Omit<PublisherWire, 'publisherKey'>;

/** An update with the texts that were received. */
export interface ReceivedUpdate {
  readonly asset: Asset;
  readonly publisher: ListedPublisher;
  readonly timestampNs: TimeNs;
  readonly raw: UpdateTexts;
}

/**
 * The last accepted update of each publisher for each asset, in the received form. This update is used to recognise an
 * update that arrives again.
 */
export class LastAccepted {
  readonly #lastOf = new PairMap<PublisherPrice>();

  put(asset: Asset, publisher: ListedPublisher, input: PublisherPrice): void {
    this.#lastOf.set(asset, publisher, input);
  }

  /** Tells whether this update is exactly the last accepted update. */
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
   * Tells whether this update has the same signature and the same signed texts as the last accepted update. The texts are
   * compared one by one, because the hash is only a declaration of the publisher until it is recomputed. In addition to these
   * texts, a signature covers only the second, which may differ.
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
