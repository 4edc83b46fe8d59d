import { type Price, parsePrice, readPrice, writePrice } from '../model/price.js';
import type { KeptInput, PublisherPrice, PublisherWire } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import { PRICE_BYTES } from '../wire/quantized_price.js';
import { addPackedText, addText, beginInput, endInput, inputOf } from './input_record.js';
import { packedBytesMax, packTextInto } from './packed_text.js';

/** The texts that identify an update. */
export type UpdateTexts = Omit<PublisherWire, 'publisherKey'>;

/** The layout of a row: the time, the price, the length of each packed text, and the packed texts one after the other. */
const TIME_AT = 0;
const PRICE_AT = 8;
const LENGTHS_AT = PRICE_AT + PRICE_BYTES;
/** The texts in the order of a row. The signature covers all texts except the last. */
const TEXT_NAMES = ['r', 's', 'v', 'msgHash', 'externalAssetId', 'price', 'metadata'] as const;
const TEXTS = TEXT_NAMES.length;
const METADATA = TEXTS - 1;
/** The offset of the flag that is 1 when the number in the row equals the number that the text of the price represents. */
const DECLARED_AT = LENGTHS_AT + 2 * TEXTS;
const TEXTS_AT = 40;
/** The size of a row, which has room for the texts of an EVM signature with a price of 27 digits. */
const ROW_BYTES = 168;
const ROWS_PER_BLOCK = 256;

/** Allocates the rows of accepted inputs in blocks of memory. */
export class InputTable {
  #block: Buffer = Buffer.alloc(0);
  #used = 0;

  /** Returns a new row, for the inputs of one publisher and the asset `symbol`. */
  add(symbol: string): InputRow {
    if (this.#used === this.#block.length) {
      this.#block = Buffer.alloc(ROW_BYTES * ROWS_PER_BLOCK);
      this.#used = 0;
    }
    const at = this.#used;
    this.#used += ROW_BYTES;
    return new InputRow(this.#block, at, symbol);
  }
}

/**
 * The latest accepted input of one publisher for one asset, as bytes. A row stays where it is while its inputs change, so that an
 * accepted update leaves no object behind: V8 would copy such an object twice before the next update replaces the object.
 */
export class InputRow implements KeptInput {
  readonly #block: Buffer;
  readonly #at: number;
  readonly #symbol: string;
  #publisherKey = '';
  /** The packed texts, when they are longer than the row. */
  #longTexts: Buffer | undefined;
  /** The input as an object, from the first use until the next input. */
  #taken: PublisherPrice | undefined;

  constructor(block: Buffer, at: number, symbol: string) {
    this.#block = block;
    this.#at = at;
    this.#symbol = symbol;
  }

  get price(): Price {
    return readPrice(this.#block, this.#at + PRICE_AT);
  }

  get timestampNs(): TimeNs {
    return this.#block.readBigInt64LE(this.#at + TIME_AT) as TimeNs;
  }

  /** Writes an input from a record. */
  restore({ price, timestampNs, wire }: PublisherPrice): void {
    this.write(wire.publisherKey, price, timestampNs, wire);
    if (parsePrice(wire.price) !== price) this.#block[this.#at + DECLARED_AT] = 0;
  }

  /**
   * Writes the next input, whose text of the price parses to `price`. The text of the publisher's key is kept as a reference, so it should
   * be the same text each time.
   */
  write(publisherKey: string, price: Price, timestampNs: TimeNs, texts: UpdateTexts): void {
    const block = this.#block;
    const length = pack(texts, this.#symbol);
    block.writeBigInt64LE(timestampNs, this.#at + TIME_AT);
    writePrice(price, block, this.#at + PRICE_AT);
    block[this.#at + DECLARED_AT] = 1;
    for (let text = 0; text < TEXTS; text++)
      block.writeUInt16LE(packedLengths[text]!, this.#at + LENGTHS_AT + 2 * text);
    if (length <= ROW_BYTES - TEXTS_AT) {
      packed.copy(block, this.#at + TEXTS_AT, 0, length);
      this.#longTexts = undefined;
    } else this.#longTexts = Buffer.from(packed.subarray(0, length));
    this.#publisherKey = publisherKey;
    this.#taken = undefined;
  }

  /** Returns whether an update with these texts and this time is exactly this input. */
  is(timestampNs: TimeNs, texts: UpdateTexts): boolean {
    return this.timestampNs === timestampNs && this.#has(texts, TEXTS);
  }

  /** Returns whether these texts have the same signature and the same signed texts as this input. */
  isSigned(texts: UpdateTexts): boolean {
    return this.#has(texts, METADATA);
  }

  take(): PublisherPrice {
    this.#taken ??= inputOf(this.record(), this.price, this.timestampNs);
    return this.#taken;
  }

  /** Returns the size-prefixed `InputRecord` of the input. The bytes are valid until the next record is encoded. */
  record(): Uint8Array {
    const { bytes, start } = this.#texts;
    let at = start;
    const isDeclared = this.#block[this.#at + DECLARED_AT] === 1;
    beginInput(this.timestampNs, this.#publisherKey, isDeclared ? undefined : this.price);
    for (let text = 0; text < TEXTS; text++) {
      const length = this.#lengthOf(text);
      const name = TEXT_NAMES[text]!;
      if (length > 0) addPackedText(name, bytes, at, length);
      else if (name === 'externalAssetId') addText(name, this.#symbol);
      at += length;
    }
    return endInput();
  }

  /** Compares the first `count` texts. */
  #has(texts: UpdateTexts, count: number): boolean {
    pack(texts, this.#symbol);
    let length = 0;
    for (let text = 0; text < count; text++) {
      if (this.#lengthOf(text) !== packedLengths[text]) return false;
      length += packedLengths[text]!;
    }
    const { bytes, start } = this.#texts;
    return packed.compare(bytes, start, start + length, 0, length) === 0;
  }

  /** The place of the packed texts. */
  get #texts(): { readonly bytes: Buffer; readonly start: number } {
    return this.#longTexts === undefined
      ? { bytes: this.#block, start: this.#at + TEXTS_AT }
      : { bytes: this.#longTexts, start: 0 };
  }

  #lengthOf(text: number): number {
    return this.#block.readUInt16LE(this.#at + LENGTHS_AT + 2 * text);
  }
}

/** The packed texts of {@link pack}, and the length of each. The length is 0 for an absent text, and for an ID that is the symbol. */
let packed = Buffer.alloc(1_024);
const packedLengths = new Uint32Array(TEXTS);

/** Packs the texts of an update into {@link packed}. @returns the length in bytes */
function pack(texts: UpdateTexts, symbol: string): number {
  let at = 0;
  for (let text = 0; text < TEXTS; text++) {
    const name = TEXT_NAMES[text]!;
    const value = texts[name];
    if (value === undefined || (name === 'externalAssetId' && value === symbol)) {
      packedLengths[text] = 0;
      continue;
    }
    const end = at + packedBytesMax(value);
    if (end > packed.length) packed = Buffer.concat([packed], 2 * end);
    const length = packTextInto(value, packed, at);
    packedLengths[text] = length;
    at += length;
  }
  return at;
}
