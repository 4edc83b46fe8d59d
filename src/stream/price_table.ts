import type { AssetIndex } from '../model/asset.js';
import { type Price, writePrice } from '../model/price.js';
import { SIMPLIFIED_LAYOUT } from '../wire/payload.js';

/** An asset in a payload: its ID and its price. */
export const ENTRY_BYTES = SIMPLIFIED_LAYOUT.asset.bytes;
const ID_AT = SIMPLIFIED_LAYOUT.asset.at['asset ID'];
const PRICE_AT = SIMPLIFIED_LAYOUT.asset.at.price;

/**
 * The live price of every asset in the forms that frames are put together from, in parallel arrays by asset index. A
 * price is encoded once when it changes, however many frames carry it.
 */
export class PriceTable {
  /** Per asset {@link ENTRY_BYTES}: ID and price as payloads carry them. */
  entries = Buffer.alloc(0);
  /** Per asset {@link openText}, or an empty text when the price changed since it was asked for. */
  readonly openTexts: string[] = [];
  /** Per asset {@link closedText}, or an empty text. Two texts because one concatenation an asset is what a frame costs. */
  readonly closedTexts: string[] = [];
  /** Per asset 1 while it has a live price. */
  live = new Uint8Array(0);
  /** Per asset the {@link sequence} at which its price last changed. */
  changedAt = new Float64Array(0);
  /** Counts price changes of all assets; a reader that remembers it knows what has changed since. */
  sequence = 0;
  #ids: readonly number[] = [];
  readonly #prices: (Price | undefined)[] = [];

  /** @param ids the streaming ID of each asset, by index. */
  constructor(ids: readonly number[]) {
    this.resize(ids);
  }

  get ids(): readonly number[] {
    return this.#ids;
  }

  /** Takes more assets, or other IDs for the ones there are; prices stay. */
  resize(ids: readonly number[]): void {
    const { entries, live, changedAt } = this;
    this.#ids = ids;
    this.entries = Buffer.alloc(ids.length * ENTRY_BYTES);
    entries.copy(this.entries);
    this.live = new Uint8Array(ids.length);
    this.live.set(live);
    this.changedAt = new Float64Array(ids.length);
    this.changedAt.set(changedAt);
    ids.forEach((id, index) => {
      this.entries.writeUInt16BE(id, index * ENTRY_BYTES + ID_AT);
      this.#forgetTexts(index as AssetIndex);
    });
  }

  price(index: AssetIndex): Price | undefined {
    return this.#prices[index];
  }

  /** @returns whether the price is another than before. */
  set(index: AssetIndex, price: Price): boolean {
    if (this.#prices[index] === price) return false;
    this.#prices[index] = price;
    writePrice(price, this.entries, index * ENTRY_BYTES + PRICE_AT);
    this.#forgetTexts(index);
    this.live[index] = 1;
    this.changedAt[index] = ++this.sequence;
    return true;
  }

  /** The asset has no live price any more: it leaves every stream until the next {@link set}. */
  clear(index: AssetIndex): void {
    this.#prices[index] = undefined;
    this.live[index] = 0;
  }

  /** `,{"id":1,"v":"123"` of an asset with a price, for frames with a market status after it. */
  openText(index: AssetIndex): string {
    const text = flat(`,{"id":${this.#ids[index]},"v":"${this.#prices[index]}"`);
    this.openTexts[index] = text;
    return text;
  }

  /** `,{"id":1,"v":"123"}` of an asset with a price. */
  closedText(index: AssetIndex): string {
    const text = flat(`,{"id":${this.#ids[index]},"v":"${this.#prices[index]}"}`);
    this.closedTexts[index] = text;
    return text;
  }

  #forgetTexts(index: AssetIndex): void {
    this.openTexts[index] = '';
    this.closedTexts[index] = '';
  }
}

/**
 * The same text in one piece of memory. V8 makes a template a rope, and walks all ropes of all assets for each frame that
 * is put together from them: three times what the frame costs from flat texts.
 */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
