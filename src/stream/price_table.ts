import type { AssetIndex } from '../model/asset.js';
import { type Price, writePrice } from '../model/price.js';
import { SIMPLIFIED_LAYOUT } from '../wire/payload_fields.js';
import type { InputQuality } from '../wire/price_quality.js';

/** The size of an asset in a payload: its ID and price. */
export const ENTRY_BYTES = SIMPLIFIED_LAYOUT.asset.bytes;
const ID_AT = SIMPLIFIED_LAYOUT.asset.at['asset ID'];
const PRICE_AT = SIMPLIFIED_LAYOUT.asset.at.price;

/** The two hex digits of each byte, as ASCII in memory order. */
export const HEX_OF_BYTE = Uint16Array.from(
  { length: 256 },
  (_, byte) =>
    new Uint16Array(Uint8Array.from(Buffer.from(byte.toString(16).padStart(2, '0'), 'latin1')).buffer).at(0)!,
);

/**
 * The live price of every asset, encoded for payloads and JSON frames, in parallel arrays by asset index. A price is encoded when the first
 * frame needs it; later frames use the same result.
 */
export class PriceTable {
  /**
   * The entries of all assets, {@link ENTRY_BYTES} each. An entry has an ID and a price as in payloads, and is valid unless the asset is
   * {@link stale}.
   */
  entries = Buffer.alloc(0);
  /** The entries in hex. Each element has the two digits of a byte. */
  hexEntries = new Uint16Array(0);
  /** The flag 1 for each asset with an outdated entry. A caller must {@link encode} such an asset before reading its entry. */
  stale = new Uint8Array(0);
  /** The {@link openText} of each asset; empty until first used. */
  readonly openTexts: string[] = [];
  /**
   * The {@link closedText} of each asset; empty until first used. Open and closed texts are kept separately, so that a frame needs only one
   * concatenation per asset.
   */
  readonly closedTexts: string[] = [];
  /** The flag 1 for each asset with a live price, else 0. */
  live = new Uint8Array(0);
  /** The {@link sequence} at each asset's last price change. */
  changedAt = new Float64Array(0);
  /** The number of price changes so far, of all assets. */
  sequence = 0;
  #ids: readonly number[] = [];
  readonly #prices: (Price | undefined)[] = [];
  readonly #qualities: (InputQuality | undefined)[] = [];

  /** @param ids the streaming ID of each asset, by index */
  constructor(ids: readonly number[]) {
    this.resize(ids);
  }

  get ids(): readonly number[] {
    return this.#ids;
  }

  /** Adds assets, or changes the IDs of existing assets. Prices stay. */
  resize(ids: readonly number[]): void {
    const { live, changedAt } = this;
    this.#ids = ids;
    this.entries = Buffer.alloc(ids.length * ENTRY_BYTES);
    this.hexEntries = new Uint16Array(ids.length * ENTRY_BYTES);
    this.stale = new Uint8Array(ids.length).fill(1);
    this.live = new Uint8Array(ids.length);
    this.live.set(live);
    this.changedAt = new Float64Array(ids.length);
    this.changedAt.set(changedAt);
    for (let index = 0; index < ids.length; index++) this.#forgetTexts(index as AssetIndex);
  }

  price(index: AssetIndex): Price | undefined {
    return this.#prices[index];
  }

  /** Returns the quality of the inputs of an asset's price. */
  quality(index: AssetIndex): InputQuality | undefined {
    return this.#qualities[index];
  }

  /** Sets a price and the quality of its inputs. @returns true when the price has changed; a changed quality alone makes no frame */
  set(index: AssetIndex, price: Price, quality: InputQuality): boolean {
    this.#qualities[index] = quality;
    if (this.#prices[index] === price) return false;
    this.#prices[index] = price;
    this.stale[index] = 1;
    this.#forgetTexts(index);
    this.live[index] = 1;
    this.changedAt[index] = ++this.sequence;
    return true;
  }

  /** Removes an asset's price. Streams skip the asset until the next {@link set}. */
  clear(index: AssetIndex): void {
    this.#prices[index] = undefined;
    this.live[index] = 0;
  }

  /** Encodes the entry of an asset that has a price. */
  encode(index: AssetIndex): void {
    const { entries, hexEntries } = this;
    const start = index * ENTRY_BYTES;
    entries.writeUInt16BE(this.#ids[index]!, start + ID_AT);
    writePrice(this.#prices[index]!, entries, start + PRICE_AT);
    for (let at = start; at < start + ENTRY_BYTES; at++) hexEntries[at] = HEX_OF_BYTE[entries[at]!]!;
    this.stale[index] = 0;
  }

  /** Returns `,{"id":1,"v":"123"` for an asset with a price, for frames with attributes after it. */
  openText(index: AssetIndex): string {
    const text = flatText(`,{"id":${this.#ids[index]},"v":"${this.#prices[index]}"`);
    this.openTexts[index] = text;
    return text;
  }

  /** Returns `,{"id":1,"v":"123"}` for an asset with a price. */
  closedText(index: AssetIndex): string {
    const text = flatText(`,{"id":${this.#ids[index]},"v":"${this.#prices[index]}"}`);
    this.closedTexts[index] = text;
    return text;
  }

  #forgetTexts(index: AssetIndex): void {
    this.openTexts[index] = '';
    this.closedTexts[index] = '';
  }
}

/**
 * Returns the same text in one piece of memory. V8 represents the result of a template as a rope, and walks each rope for every frame. A
 * frame made of ropes takes three times as long as one made of flat texts.
 */
function flatText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
