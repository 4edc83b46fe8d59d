import type { Asset, Publisher } from '../model/asset.js';

/** What is known of each publisher and asset, found without a key to hash: indexes are small and dense. */
export class PairMap<Value> {
  /** By asset index, then by publisher index. */
  readonly #values: (Value | undefined)[][] = [];

  get({ index }: Pick<Asset, 'index'>, publisher: Pick<Publisher, 'index'>): Value | undefined {
    return this.#values[index]?.[publisher.index];
  }

  set({ index }: Pick<Asset, 'index'>, publisher: Pick<Publisher, 'index'>, value: Value): void {
    this.#values[index] ??= [];
    this.#values[index][publisher.index] = value;
  }
}
