import type { AssetName } from '../model/asset_map.js';
import type { Price } from '../model/price.js';
import type { PublisherPrice, SignedAggregate } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import type { ShownFacts } from '../records/signed_line.js';
import { AGGREGATION_TYPES, type AggregationType } from '../wire/algorithms.js';
import { WORD_BYTES } from '../wire/signatures.js';
import { derivedAggregateHash } from './derived_hash.js';
import type { PricedEntry } from './kept_entry.js';

/** The bits of an entry's first byte. */
export const IS_END = 0x01;
export const IS_GAP = 0x02;
export const IS_CARRIED = 0x04;
export const IS_DELTA = 0x08;
export const HAS_HASH = 0x10;
export const IS_V28 = 0x20;
export const HAS_V = 0x40;
/** The signer, the algorithm or the shown facts differ from the previous entry. */
export const IS_CHANGED = 0x80;

/** The facts that successive entries share. */
export interface Fact {
  readonly publicKey: string;
  readonly algorithm: AggregationType;
  readonly shown: ShownFacts;
}

/** @throws RangeError or SyntaxError when the text is not a fact */
export function readFact(text: string): Fact {
  const [publicKey, algorithm, serviceName, encodedAssetId, version, checksum] = JSON.parse(text) as [
    string,
    AggregationType,
    string,
    string,
    string,
    string,
  ];
  if (!AGGREGATION_TYPES.includes(algorithm)) throw new RangeError('an entry has an unknown algorithm');
  return { publicKey, algorithm, shown: { serviceName, encodedAssetId, version, checksum } };
}

/** Returns the size of the signature, the Merkle root and the hash of an aggregate. */
export function wordBytes(flags: number): number {
  return ((flags & HAS_HASH) === 0 ? 3 : 4) * WORD_BYTES;
}

/** The fields of an aggregate that `readBlock` has read. */
export interface ReadFields {
  readonly name: AssetName;
  readonly flags: number;
  readonly fact: Fact;
  readonly price: Price;
  readonly timestampNs: TimeNs;
  /** The bytes of the block, and the place of the aggregate's words in them. */
  readonly words: Buffer;
  readonly wordsAt: number;
}

/** An entry whose aggregate is made at its first use. V8 would define a getter of an object literal again for each entry. */
export class ReadEntry implements PricedEntry {
  readonly kind = 'priced';
  readonly timeNs: TimeNs;
  readonly isCarried: boolean;
  readonly hasInputs: boolean;
  readonly shown: ShownFacts;
  readonly #read: ReadFields;
  readonly #inputs: (() => readonly PublisherPrice[]) | undefined;
  #aggregate: SignedAggregate | undefined;

  constructor(timeNs: TimeNs, read: ReadFields, inputs: (() => readonly PublisherPrice[]) | undefined) {
    this.timeNs = timeNs;
    this.isCarried = (read.flags & IS_CARRIED) !== 0;
    this.hasInputs = inputs !== undefined;
    this.shown = read.fact.shown;
    this.#read = read;
    this.#inputs = inputs;
  }

  get aggregate(): SignedAggregate {
    this.#aggregate ??= this.#make();
    return this.#aggregate;
  }

  #make(): SignedAggregate {
    const { flags, fact, price, timestampNs, name } = this.#read;
    const { symbol, signatureType } = name;
    const { publicKey, algorithm, shown } = fact;
    const signedAtNs = this.timeNs;
    const merkleRoot = this.#word(2);
    return {
      symbol,
      trigger: (flags & IS_DELTA) === 0 ? 'clock' : 'delta',
      price,
      timestampNs,
      signedAtNs,
      signatureType,
      publicKey,
      msgHash:
        (flags & HAS_HASH) === 0
          ? derivedAggregateHash(
              { symbol, signedAtNs, price, merkleRoot, publicKey, signatureType },
              shown.checksum,
            )!
          : this.#word(3),
      r: this.#word(0),
      s: this.#word(1),
      v: (flags & HAS_V) === 0 ? undefined : (flags & IS_V28) === 0 ? 27 : 28,
      merkleRoot,
      algorithm,
      inputs: this.#inputs?.() ?? [],
    };
  }

  #word(place: number): Buffer {
    const { words, wordsAt } = this.#read;
    const start = wordsAt + place * WORD_BYTES;
    return words.subarray(start, start + WORD_BYTES);
  }
}
