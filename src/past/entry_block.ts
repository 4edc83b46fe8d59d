import type { AssetName } from '../model/asset_map.js';
import type { SignedAggregate } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import type { ShownFacts } from '../records/signed_line.js';
import { WORD_BYTES } from '../wire/signatures.js';
import { hasDerivedHash } from './derived_hash.js';
import type { KeptEntry, PricedEntry } from './kept_entry.js';
import { InputReader, InputWriter } from './kept_inputs.js';
import { PackedReader, PackedWriter, type TextList } from './packed_bytes.js';
import { PriceSteps } from './price_steps.js';
import {
  type Fact,
  HAS_HASH,
  HAS_V,
  IS_CARRIED,
  IS_CHANGED,
  IS_DELTA,
  IS_END,
  IS_GAP,
  IS_V28,
  ReadEntry,
  readFact,
  wordBytes,
} from './read_entry.js';

/**
 * The largest number of entries in a block. A block is read as a whole, which takes about 2 ms; damage loses the whole block. A block
 * begins with a copy of the current inputs.
 */
export const BLOCK_ENTRIES_MAX = 256;

/** Texts that entries refer to by number. */
export interface BlockTexts {
  /** Signers and shown facts. */
  readonly facts: TextList;
  /** Publishers and their texts, which are removed together with the inputs. */
  readonly sources: TextList;
}

/** Writes the entries of one asset into two streams: signatures and publishers' inputs. */
export class BlockWriter {
  readonly signatures = new PackedWriter();
  readonly inputs = new PackedWriter();
  entries = 0;
  /** The times of the earliest and the latest entry. */
  minNs = 0n;
  maxNs = 0n;
  readonly #facts: TextList;
  readonly #inputs: InputWriter;
  readonly #prices = new PriceSteps();
  #timeNs = 0n;
  #lastFact: (Fact & { readonly number: number }) | undefined;

  constructor({ facts, sources }: BlockTexts) {
    this.#facts = facts;
    this.#inputs = new InputWriter(sources);
  }

  write(entry: KeptEntry): void {
    const out = this.signatures;
    const carried = entry.isCarried ? IS_CARRIED : 0;
    if (entry.kind === 'priced') this.#writePriced(entry, carried);
    else {
      out.byte(IS_END | (entry.kind === 'gap' ? IS_GAP : 0) | carried);
      this.#writeTime(entry.timeNs);
    }
    this.note(entry.timeNs);
  }

  /** Counts an entry. */
  note(timeNs: bigint): void {
    if (this.entries === 0 || timeNs < this.minNs) this.minNs = timeNs;
    if (this.entries === 0 || timeNs > this.maxNs) this.maxNs = timeNs;
    this.entries++;
  }

  #writePriced({ timeNs, aggregate, shown }: PricedEntry, carried: number): void {
    const out = this.signatures;
    const { v, msgHash } = aggregate;
    const lastFact = this.#lastFact?.number;
    const fact = this.#factOf(aggregate, shown);
    const hasHash = !hasDerivedHash(aggregate, shown.checksum);
    out.byte(
      carried |
        (aggregate.trigger === 'delta' ? IS_DELTA : 0) |
        (hasHash ? HAS_HASH : 0) |
        (v === undefined ? 0 : HAS_V) |
        (v === 28 ? IS_V28 : 0) |
        (fact === lastFact ? 0 : IS_CHANGED),
    );
    if (fact !== lastFact) out.count(fact);
    this.#writeTime(timeNs);
    this.#prices.write(aggregate.price, out);
    out.integer(aggregate.signedAtNs - aggregate.timestampNs);
    this.#writeWord(aggregate.r);
    this.#writeWord(aggregate.s);
    this.#writeWord(aggregate.merkleRoot);
    if (hasHash) this.#writeWord(msgHash);
    this.#inputs.write(aggregate.inputs, this.inputs);
  }

  /** Returns the number of the signer, the algorithm and the shown facts. Successive aggregates have the same. */
  #factOf({ publicKey, algorithm }: SignedAggregate, shown: ShownFacts): number {
    const last = this.#lastFact;
    if (last?.shown === shown && last.publicKey === publicKey && last.algorithm === algorithm)
      return last.number;
    const { serviceName, encodedAssetId, version, checksum } = shown;
    const number = this.#facts.numberOf(
      JSON.stringify([publicKey, algorithm, serviceName, encodedAssetId, version, checksum]),
    );
    this.#lastFact = { publicKey, algorithm, shown, number };
    return number;
  }

  #writeWord(word: Uint8Array): void {
    if (word.length !== WORD_BYTES) throw new RangeError('a signature has numbers of 32 bytes');
    this.signatures.bytes(word);
  }

  #writeTime(timeNs: bigint): void {
    this.signatures.integer(timeNs - this.#timeNs);
    this.#timeNs = timeNs;
  }
}

/** The bytes of a block. The inputs are absent after their retention time. */
export interface BlockBytes {
  readonly signatures: Buffer;
  readonly inputs: Buffer | undefined;
}

/**
 * Reads the entries of a block in order. An aggregate is read at its first use.
 * @param skipped the number of entries to skip at the start
 * @throws RangeError when the bytes are not a block
 */
export function* readBlock(
  name: AssetName,
  { signatures, inputs }: BlockBytes,
  { facts, sources }: BlockTexts,
  skipped = 0,
): Iterable<KeptEntry> {
  const from = new PackedReader(signatures);
  const fromInputs = inputs && new PackedReader(inputs);
  const inputReader = new InputReader(sources);
  const prices = new PriceSteps();
  let timeNs = 0n;
  let fact: Fact | undefined;
  for (let entry = 0; !from.isAtEnd; entry++) {
    const flags = from.byte();
    const isCarried = (flags & IS_CARRIED) !== 0;
    if ((flags & IS_END) !== 0) {
      timeNs += from.integer();
      if (entry < skipped) continue;
      yield { kind: (flags & IS_GAP) === 0 ? 'ended' : 'gap', timeNs: timeNs as TimeNs, isCarried };
      continue;
    }
    if ((flags & IS_CHANGED) !== 0) fact = readFact(facts.textOf(from.count()));
    if (fact === undefined) throw new RangeError('an entry has no signer');
    timeNs += from.integer();
    const price = prices.read(from);
    const timestampNs = (timeNs - from.integer()) as TimeNs;
    const wordsAt = from.skip(wordBytes(flags));
    if (entry < skipped) {
      if (fromInputs !== undefined) inputReader.skip(fromInputs);
      continue;
    }
    const read = { name, flags, fact, price, timestampNs, words: signatures, wordsAt };
    yield new ReadEntry(timeNs as TimeNs, read, fromInputs && inputReader.read(fromInputs));
  }
}

/**
 * Counts the first entries of a block, up to and including a time.
 * @returns the count, and whether there is a later entry
 */
export function countUntil(
  signatures: Buffer,
  atNs: bigint,
): { readonly count: number; readonly hasLater: boolean } {
  const from = new PackedReader(signatures);
  let timeNs = 0n;
  let count = 0;
  while (!from.isAtEnd) {
    const flags = from.byte();
    const isPriced = (flags & IS_END) === 0;
    if (isPriced && (flags & IS_CHANGED) !== 0) from.count();
    timeNs += from.integer();
    if (timeNs > atNs) return { count, hasLater: true };
    count++;
    if (!isPriced) continue;
    skipRest(from, flags);
  }
  return { count, hasLater: false };
}

/** Skips an aggregate from its price on. */
function skipRest(from: PackedReader, flags: number): void {
  PriceSteps.skip(from);
  from.skipInteger();
  from.skip(wordBytes(flags));
}
