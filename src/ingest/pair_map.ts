import type { Asset, ListedPublisher } from '../model/asset.js';

/**
 * Values by publisher and asset. An asset has few publishers, so a search of a short list takes less memory and time than a map. The
 * list has the index of each publisher, followed by the publisher's value.
 */
export class PairMap<Value> {
  /** The lists by asset index. */
  readonly #lists: (number | Value)[][] = [];

  get({ index }: Asset, publisher: Pick<ListedPublisher, 'index'>): Value | undefined {
    const list = this.#lists[index];
    if (list === undefined) return undefined;
    for (let at = 0; at < list.length; at += 2)
      if (list[at] === publisher.index) return list[at + 1] as Value;
    return undefined;
  }

  /** Adds the value of a publisher and an asset that have none. */
  add({ index }: Asset, publisher: Pick<ListedPublisher, 'index'>, value: Value): void {
    const list = this.#lists[index];
    if (list === undefined) this.#lists[index] = [publisher.index, value];
    else list.push(publisher.index, value);
  }
}
