import type { Asset, ListedPublisher } from '../model/asset.js';
import type { PublisherPrice, PublisherWire } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import { PairMap } from './pair_map.js';

/** The texts that identify an update. */
export type UpdateTexts = Omit<PublisherWire, 'publisherKey'>;

/** An update with the received texts. */
export interface ReceivedUpdate {
  readonly asset: Asset;
  readonly publisher: ListedPublisher;
  readonly timestampNs: TimeNs;
  readonly raw: UpdateTexts;
}

/**
 * The last accepted update of each publisher for each asset, in the received form. The gate uses this update to recognise a
 * repeated update.
 */
export class LastAccepted {
  readonly #lastOf = new PairMap<PublisherPrice>();

  put(asset: Asset, publisher: ListedPublisher, input: PublisherPrice): void {
    this.#lastOf.set(asset, publisher, input);
  }

  /** Returns whether this update is exactly the last accepted update. */
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
   * Returns whether this update has the same signature and the same signed texts as the last accepted update. The method compares
   * the texts, because the hash is only a claim of the publisher until the service computes it again. A signature also covers the
   * second, which may differ.
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
