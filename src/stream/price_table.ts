import type { AssetIndex } from '../model/asset.js';
import { PRICE_BYTES, type Price, writePrice } from '../model/price.js';

/** An asset in a payload: its uint16 ID and its 16-byte price. */
export const ENTRY_BYTES = 2 + PRICE_BYTES;

/**
 * The live price of every asset in the forms that frames are put together from, in parallel arrays by asset index. A
 * price is encoded once when it changes, however many frames carry it.
 */
export class PriceTable {
  /** Per asset {@link ENTRY_BYTES}: ID and price as payloads carry them. */
  readonly entries: Buffer;
  /** Per asset `,{"id":1,"v":"123"`, for frames with a market status after it. */
  readonly openTexts: string[];
  /** Per asset `,{"id":1,"v":"123"}`. Two texts because one concatenation an asset is what a frame costs. */
  readonly closedTexts: string[];
  /** Per asset 1 while it has a live price. */
  readonly live: Uint8Array;
  /** Per asset the {@link sequence} at which its price last changed. */
  readonly changedAt: Float64Array;
  /** Counts price changes of all assets; a reader that remembers it knows what has changed since. */
  sequence = 0;
  readonly #prices: (Price | undefined)[];

  /** @param ids the streaming ID of each asset, by index. */
  constructor(readonly ids: readonly number[]) {
    const count = ids.length;
    this.entries = Buffer.alloc(count * ENTRY_BYTES);
    ids.forEach((id, index) => {
      this.entries.writeUInt16BE(id, index * ENTRY_BYTES);
    });
    this.openTexts = new Array<string>(count).fill('');
    this.closedTexts = new Array<string>(count).fill('');
    this.live = new Uint8Array(count);
    this.changedAt = new Float64Array(count);
    this.#prices = new Array<Price | undefined>(count).fill(undefined);
  }

  price(index: AssetIndex): Price | undefined {
    return this.#prices[index];
  }

  /** @returns whether the price is another than before. */
  set(index: AssetIndex, price: Price): boolean {
    if (this.#prices[index] === price) return false;
    this.#prices[index] = price;
    writePrice(price, this.entries, index * ENTRY_BYTES + 2);
    const openText = `,{"id":${this.ids[index]},"v":"${price}"`;
    this.openTexts[index] = openText;
    this.closedTexts[index] = `${openText}}`;
    this.live[index] = 1;
    this.changedAt[index] = ++this.sequence;
    return true;
  }

  /** The asset has no live price any more: it leaves every stream until the next {@link set}. */
  clear(index: AssetIndex): void {
    this.#prices[index] = undefined;
    this.live[index] = 0;
  }
}
