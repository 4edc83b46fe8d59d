import type { Asset, ListedPublisher } from '../model/asset.js';
import type { TimeNs } from '../model/time.js';

/** The times at which the last update of each asset and of each publisher was accepted. */
export class LastUpdates {
  /** Times by asset index. */
  readonly #ofAsset: (TimeNs | undefined)[] = [];
  /** Times by publisher index. */
  readonly #ofPublisher: (TimeNs | undefined)[] = [];

  accepted(asset: Asset, publisher: ListedPublisher, atNs: TimeNs): void {
    this.#ofAsset[asset.index] = atNs;
    this.#ofPublisher[publisher.index] = atNs;
  }

  /** Records an update from before the start, with the update's own timestamp. Such updates may come in any order. */
  restored(asset: Asset, publisher: ListedPublisher, timestampNs: TimeNs): void {
    this.#ofAsset[asset.index] = later(this.#ofAsset[asset.index], timestampNs);
    this.#ofPublisher[publisher.index] = later(this.#ofPublisher[publisher.index], timestampNs);
  }

  /**
   * Returns the time of the asset's last update; `undefined` when there was no update. {@link ofPublisher}
   * does the same for a publisher.
   */
  ofAsset({ index }: Asset): TimeNs | undefined {
    return this.#ofAsset[index];
  }

  ofPublisher({ index }: ListedPublisher): TimeNs | undefined {
    return this.#ofPublisher[index];
  }
}

function later(known: TimeNs | undefined, next: TimeNs): TimeNs {
  return known !== undefined && known > next ? known : next;
}
