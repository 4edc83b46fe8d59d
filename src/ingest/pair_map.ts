import type { Asset, ListedPublisher } from '../model/asset.js';

/** Values by publisher and asset. */
export class PairMap<Value> {
  /** The values by asset index, then by publisher index. Both indexes are small integers, so the maps need no additional keys. */
  readonly #values: Map<number, Value>[] = [];

  get({ index }: Pick<Asset, 'index'>, publisher: Pick<ListedPublisher, 'index'>): Value | undefined {
    return this.#values[index]?.get(publisher.index);
  }

  set({ index }: Pick<Asset, 'index'>, publisher: Pick<ListedPublisher, 'index'>, value: Value): void {
    this.#values[index] ??= new Map();
    this.#values[index].set(publisher.index, value);
  }
}
