import type { Asset, ListedPublisher } from '../model/asset.js';
import type { TimeNs } from '../model/time.js';

/** When the last update of each asset and of each publisher was accepted. */
export class LastUpdates {
  /** By asset index. */
  readonly #ofAsset: (TimeNs | undefined)[] = [];
  /** By publisher index. */
  readonly #ofPublisher: (TimeNs | undefined)[] = [];

  accepted(asset: Asset, publisher: ListedPublisher, atNs: TimeNs): void {
    this.#ofAsset[asset.index] = atNs;
    this.#ofPublisher[publisher.index] = atNs;
  }

  /** An update from before the start, by its own timestamp; they come in any order. */
  restored(asset: Asset, publisher: ListedPublisher, timestampNs: TimeNs): void {
    this.#ofAsset[asset.index] = later(this.#ofAsset[asset.index], timestampNs);
    this.#ofPublisher[publisher.index] = later(this.#ofPublisher[publisher.index], timestampNs);
  }

  /** `undefined` when there was none, as the next. */
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
