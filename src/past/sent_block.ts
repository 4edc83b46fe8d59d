import type { AssetName } from '../model/asset_map.js';
import { SIGNATURE_TYPES } from '../wire/signatures.js';
import { assetKeyOf, nameOfKey } from './chunk.js';
import { type BlockBytes, type BlockTexts, BlockWriter, factsIn, readBlock, timesIn } from './entry_block.js';
import type { PricedEntry } from './kept_entry.js';
import { sourcesIn } from './kept_inputs.js';
import { PackedReader, PackedWriter, TextList } from './packed_bytes.js';

/** The version of the form of a sent block. */
const VERSION = 1;
/** The size of the length before a block. */
export const SIZE_BYTES = 4;
/** The largest accepted size of a block. A block with a hundred new inputs in each entry has a tenth of this size. */
export const SENT_BLOCK_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Encodes a block for another process, with its length before it. The block has only the texts that its entries use, so it tells nothing
 * about other assets.
 */
export function sentBlock(
  name: AssetName,
  { signatures, inputs = Buffer.alloc(0) }: BlockBytes,
  { facts, sources }: BlockTexts,
): Buffer {
  const out = new PackedWriter();
  out.bytes(new Uint8Array(SIZE_BYTES));
  out.byte(VERSION);
  out.sized(Buffer.from(assetKeyOf(name)));
  writeNumbered(out, factsIn(signatures), facts);
  writeNumbered(out, sourcesIn(inputs), sources);
  out.sized(signatures);
  out.sized(inputs);
  const bytes = out.take();
  bytes.writeUInt32LE(bytes.length - SIZE_BYTES, 0);
  return bytes;
}

/** Makes blocks of entries that were read one by one. */
export class SentBlockWriter {
  readonly #name: AssetName;
  #texts: BlockTexts = { facts: new TextList(), sources: new TextList() };
  #block = new BlockWriter(this.#texts);

  constructor(name: AssetName) {
    this.#name = name;
  }

  /** The size of the entries since the last block. */
  get bytes(): number {
    return this.#block.signatures.length + this.#block.inputs.length;
  }

  add(entry: PricedEntry, withInputs: boolean): void {
    this.#block.write(
      withInputs && entry.hasInputs ? entry : { ...entry, aggregate: { ...entry.aggregate, inputs: [] } },
    );
  }

  /** Returns a block of the entries since the last call; no bytes without entries. */
  take(): Buffer {
    if (this.#block.entries === 0) return Buffer.alloc(0);
    const { signatures, inputs } = this.#block;
    const bytes = { signatures: signatures.since(0), inputs: inputs.since(0) };
    const sent = sentBlock(this.#name, bytes, this.#texts);
    this.#texts = { facts: new TextList(), sources: new TextList() };
    this.#block = new BlockWriter(this.#texts);
    return sent;
  }
}

/** A block from another process, not verified. */
export interface ReceivedBlock {
  readonly name: AssetName;
  /**
   * Reads the aggregates of the block in order, without carried copies. An aggregate without inputs means that its inputs are not sent,
   * because each aggregate was signed with at least one input.
   * @throws RangeError, SyntaxError or TypeError when the bytes are not entries
   */
  entries(): Iterable<PricedEntry>;
  /**
   * Reads the times of the same aggregates in a small part of the time.
   * @throws RangeError when the bytes are not entries
   */
  times(): bigint[];
}

/**
 * Reads a block without its length.
 * @throws RangeError when the bytes are not a block
 */
export function receivedBlock(bytes: Buffer): ReceivedBlock {
  const from = new PackedReader(bytes);
  if (from.byte() !== VERSION) throw new RangeError('the block has another version');
  const name = nameOfKey(from.sized().toString());
  if (!SIGNATURE_TYPES.includes(name.signatureType)) throw new RangeError('the block names no asset');
  const texts = { facts: readNumbered(from), sources: readNumbered(from) };
  const block = { signatures: from.sized(), inputs: from.sized() };
  if (!from.isAtEnd) throw new RangeError('the block has a wrong length');
  const inputs = block.inputs.length === 0 ? undefined : block.inputs;
  return {
    name,
    *entries() {
      for (const entry of readBlock(name, { signatures: block.signatures, inputs }, texts))
        if (entry.kind === 'priced' && !entry.isCarried) yield entry;
    },
    times: () => timesIn(block.signatures),
  };
}

function writeNumbered(out: PackedWriter, numbers: ReadonlySet<number>, texts: TextList): void {
  out.count(numbers.size);
  for (const number of numbers) {
    out.count(number);
    out.sized(Buffer.from(texts.textOf(number)));
  }
}

function readNumbered(from: PackedReader): Pick<TextList, 'textOf'> {
  const texts = new Map<number, string>();
  for (let left = from.count(); left > 0; left--) texts.set(from.count(), from.sized().toString());
  return {
    textOf(number) {
      const text = texts.get(number);
      if (text === undefined) throw new RangeError('a number names no text');
      return text;
    },
  };
}
