import { toHex } from '../model/hex.js';
import { type PublisherPrice, type PublisherWire, placeAmong } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import { decodeInput, encodeInput, packedTextsOf } from '../records/input_record.js';
import { packedWord, unpackText } from '../records/packed_text.js';
import { WORD_BYTES } from '../wire/signatures.js';
import { derivedInputHash } from './derived_hash.js';
import type { PackedReader, PackedWriter, TextList } from './packed_bytes.js';
import { PriceSteps } from './price_steps.js';

/** The bits of an input's first byte. An input with texts of an unusual form is written whole. */
const IS_WHOLE = 0x01;
const HAS_HASH = 0x02;
const V_SHIFT = 2;
const SHORT_R = 0x10;
const SHORT_S = 0x20;
const SHORT_HASH = 0x40;
/** The texts of `v`, by the number in the two bits from {@link V_SHIFT} on. */
const V_TEXTS = [undefined, '0x1b', '0x1c'] as const;

/**
 * Writes the inputs of one asset's aggregates. An input is written with the first aggregate that has it; later aggregates refer to it by
 * number.
 */
export class InputWriter {
  readonly #sources: TextList;
  readonly #numbers = new Map<string, number>();
  readonly #prices = new PriceSteps();
  #timeNs = 0n;
  /** The inputs of the last aggregate, and their numbers. */
  #last: { readonly inputs: readonly PublisherPrice[]; readonly numbers: readonly number[] } = {
    inputs: [],
    numbers: [],
  };

  /** @param sources the repeated texts of inputs */
  constructor(sources: TextList) {
    this.#sources = sources;
  }

  write(inputs: readonly PublisherPrice[], out: PackedWriter): void {
    const last = this.#last;
    out.count(inputs.length);
    const numbers = inputs.map((input, i) => {
      const known = last.numbers[placeAmong(last.inputs, input, i)];
      return this.#writeInput(input, known, out);
    });
    this.#last = { inputs, numbers };
  }

  /**
   * @param known the number of the input, if the last aggregate had it
   * @returns the number of the input
   */
  #writeInput(input: PublisherPrice, known: number | undefined, out: PackedWriter): number {
    const next = this.#numbers.size;
    if (known !== undefined) {
      out.count(next - known);
      return known;
    }
    const record = encodeInput(input);
    // Equal inputs have equal records.
    const key = Buffer.from(record.buffer, record.byteOffset, record.length).toString('latin1');
    const earlier = this.#numbers.get(key);
    if (earlier !== undefined) {
      out.count(next - earlier);
      return earlier;
    }
    this.#numbers.set(key, next);
    out.count(0);
    this.#writeNew(input, record, out);
    return next;
  }

  #writeNew({ price, timestampNs }: PublisherPrice, record: Uint8Array, out: PackedWriter): void {
    const texts = packedTextsOf(record);
    const v = (V_TEXTS as readonly (string | undefined)[]).indexOf(texts.v && unpackText(texts.v));
    const [r, s, hash] = [packedWord(texts.r), packedWord(texts.s), packedWord(texts.msgHash)];
    const isUsual = unpackText(texts.price) === String(price);
    if (v < 0 || r === undefined || s === undefined || hash === undefined || !isUsual) {
      out.byte(IS_WHOLE);
      out.sized(record);
      return;
    }
    const publisherKey = unpackText(texts.publisherKey);
    const externalAssetId = unpackText(texts.externalAssetId);
    const metadata = texts.metadata && unpackText(texts.metadata);
    const derived = derivedInputHash(publisherKey, externalAssetId, { price, timestampNs });
    const hasHash = hash.isShort || !derived?.equals(hash.bytes);
    out.byte(
      (v << V_SHIFT) |
        (r.isShort ? SHORT_R : 0) |
        (s.isShort ? SHORT_S : 0) |
        (hasHash ? HAS_HASH : 0) |
        (hasHash && hash.isShort ? SHORT_HASH : 0),
    );
    out.count(this.#sources.numberOf(JSON.stringify([publisherKey, externalAssetId, metadata ?? null])));
    this.#prices.write(price, out);
    out.integer(timestampNs - this.#timeNs);
    this.#timeNs = timestampNs;
    out.bytes(r.bytes);
    out.bytes(s.bytes);
    if (hasHash) out.bytes(hash.bytes);
  }
}

/** Reads the bytes of an {@link InputWriter}. */
export class InputReader {
  readonly #sources: Pick<TextList, 'textOf'>;
  /** The inputs so far. An input is decoded at its first use. */
  readonly #inputs: (() => PublisherPrice)[] = [];
  readonly #prices = new PriceSteps();
  #timeNs = 0n;
  /** The inputs of the last aggregate. */
  #last: { readonly each: readonly (() => PublisherPrice)[]; readonly all: () => readonly PublisherPrice[] } =
    {
      each: [],
      all: () => [],
    };

  constructor(sources: Pick<TextList, 'textOf'>) {
    this.#sources = sources;
  }

  /**
   * @returns a function that returns the inputs of the next aggregate. Successive aggregates with the same inputs share one array, so that
   * their readers can compare arrays
   */
  read(from: PackedReader): () => readonly PublisherPrice[] {
    const made: (() => PublisherPrice)[] = [];
    for (let left = from.count(); left > 0; left--) {
      const back = from.count();
      if (back === 0) this.#inputs.push(once(this.#readNew(from)));
      const input = this.#inputs[this.#inputs.length - Math.max(1, back)];
      if (input === undefined) throw new RangeError('a number names no input');
      made.push(input);
    }
    const { each, all } = this.#last;
    if (made.length === each.length && made.every((input, i) => input === each[i])) return all;
    const read = once(() => made.map((make) => make()));
    this.#last = { each: made, all: read };
    return read;
  }

  /** Reads the inputs of a skipped aggregate, because later aggregates may refer to them. */
  skip(from: PackedReader): void {
    for (let left = from.count(); left > 0; left--)
      if (from.count() === 0) this.#inputs.push(once(this.#readNew(from)));
  }

  #readNew(from: PackedReader): () => PublisherPrice {
    const flags = from.byte();
    if ((flags & IS_WHOLE) !== 0) {
      const bytes = from.sized();
      return () => decodeInput(bytes).input;
    }
    const source = this.#sources.textOf(from.count());
    const price = this.#prices.read(from);
    this.#timeNs += from.integer();
    const timestampNs = this.#timeNs as TimeNs;
    const hasHash = (flags & HAS_HASH) !== 0;
    const wordsAt = from.skip((hasHash ? 3 : 2) * WORD_BYTES);
    const word = (place: number) => from.bytesAt(wordsAt + place * WORD_BYTES, WORD_BYTES);
    return () => {
      const [publisherKey, externalAssetId, metadata] = JSON.parse(source) as [string, string, string | null];
      const msgHash = hasHash
        ? textOf(word(2), (flags & SHORT_HASH) !== 0)
        : toHex(derivedInputHash(publisherKey, externalAssetId, { timestampNs, price })!);
      const wire: PublisherWire = {
        publisherKey,
        externalAssetId,
        price: String(price),
        r: textOf(word(0), (flags & SHORT_R) !== 0),
        s: textOf(word(1), (flags & SHORT_S) !== 0),
        v: V_TEXTS[(flags >> V_SHIFT) & 3],
        msgHash,
        metadata: metadata ?? undefined,
      };
      return { price, timestampNs, wire };
    };
  }
}

function textOf(bytes: Buffer, isShort: boolean): string {
  const full = bytes.toString('hex');
  return `0x${isShort ? full.replace(/^0+(?=.)/, '') : full}`;
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
