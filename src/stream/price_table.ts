import type { AssetIndex } from '../model/asset.js';
import { type Price, writePrice } from '../model/price.js';
import { SIMPLIFIED_LAYOUT } from '../wire/payload.js';

/** An asset in a payload: its ID and its price. */
export const ENTRY_BYTES = SIMPLIFIED_LAYOUT.asset.bytes;
const ID_AT = SIMPLIFIED_LAYOUT.asset.at['asset ID'];
const PRICE_AT = SIMPLIFIED_LAYOUT.asset.at.price;

/**
 * The live price of every asset, encoded for payloads and JSON frames, in parallel arrays by asset index. A price is encoded
 * once when it changes, however many frames hold it.
 */
export class PriceTable {
  /** {@link ENTRY_BYTES} for each asset: ID and price as in payloads. */
  entries = Buffer.alloc(0);
  /** The {@link openText} of each asset, or an empty text when it must be made. */
  readonly openTexts: string[] = [];
  /** The {@link closedText} of each asset, or an empty text. Two texts, so that a frame needs one concatenation for each asset. */
  readonly closedTexts: string[] = [];
  /** For each asset 1 while it has a live price, otherwise 0. */
  live = new Uint8Array(0);
  /** For each asset the {@link sequence} of its last price change. */
  changedAt = new Float64Array(0);
  /** The price sequence: it counts the price changes of all assets. */
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

  /** Adds assets, or changes the IDs of present ones. Prices stay. */
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

  /** @returns whether the price has changed */
  set(index: AssetIndex, price: Price): boolean {
    if (this.#prices[index] === price) return false;
    this.#prices[index] = price;
    writePrice(price, this.entries, index * ENTRY_BYTES + PRICE_AT);
    this.#forgetTexts(index);
    this.live[index] = 1;
    this.changedAt[index] = ++this.sequence;
    return true;
  }

  /** Removes an asset's price. Streams leave the asset out until the next {@link set}. */
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
 * The same text in one piece of memory. V8 makes a rope of a template, and a frame of ropes takes three times as long as one
 * of flat texts, because V8 walks every rope for every frame.
 */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
