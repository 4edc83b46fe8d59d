import type { SignatureType } from '../model/asset.js';
import type { AssetName } from '../model/asset_map.js';
import { BLOCK_ENTRIES_MAX, type BlockBytes, type BlockTexts, BlockWriter } from './entry_block.js';
import type { KeptEntry } from './kept_entry.js';
import { PackedReader, PackedWriter, TextList } from './packed_bytes.js';

/** The place of a chunk in the past: an hour since 1970, and the chunk's number in that hour, from 1. */
export interface ChunkPlace {
  readonly hour: number;
  readonly number: number;
}

/** A block of a chunk. */
export interface ChunkBlock {
  /** The name of the asset: {@link assetKeyOf}. */
  readonly assetKey: string;
  readonly entries: number;
  readonly minNs: bigint;
  readonly maxNs: bigint;
}

/**
 * Consecutive entries of all assets, in memory and in a log until they are written into the files of their hour. The writer thread adds
 * entries and takes the bytes for the log. A reader thread applies these bytes to its own chunk.
 */
export class Chunk implements ChunkPlace {
  readonly texts: BlockTexts = { facts: new TextList(), sources: new TextList() };
  /** The blocks of each asset. New entries are added to the last block. */
  readonly blocksOf = new Map<string, BlockWriter[]>();
  /** The time of the first entry that is not a carried copy; `undefined` without such an entry. */
  firstNs: bigint | undefined;
  /** The time of the last entry that is not a carried copy. */
  lastNs = 0n;
  bytes = 0;
  readonly #frame = new PackedWriter();
  #factsLogged = 0;
  #sourcesLogged = 0;

  constructor(
    readonly hour: number,
    readonly number: number,
  ) {}

  add(assetKey: string, entry: KeptEntry): void {
    const { facts } = this.texts;
    const [block, isNew] = this.#blockFor(assetKey);
    const signaturesAt = block.signatures.length;
    const inputsAt = block.inputs.length;
    block.write(entry);
    const frame = this.#frame;
    frame.count(facts.numberOf(assetKey));
    frame.byte((isNew ? IS_NEW_BLOCK : 0) | (entry.isCarried ? IS_CARRIED : 0));
    frame.integer(entry.timeNs);
    frame.sized(block.signatures.since(signaturesAt));
    frame.sized(block.inputs.since(inputsAt));
    this.#note(entry.timeNs, entry.isCarried);
  }

  /** Returns the entries since the last call, encoded for {@link applyFrame}. */
  takeFrame(): Buffer {
    const { facts, sources } = this.texts;
    const frame = new PackedWriter();
    writeTexts(frame, facts.texts.slice(this.#factsLogged));
    writeTexts(frame, sources.texts.slice(this.#sourcesLogged));
    this.#factsLogged = facts.texts.length;
    this.#sourcesLogged = sources.texts.length;
    frame.bytes(this.#frame.take());
    const bytes = frame.take();
    this.bytes += bytes.length;
    return bytes;
  }

  /** @throws RangeError when the bytes are not a frame */
  applyFrame(bytes: Buffer): void {
    const { facts, sources } = this.texts;
    const from = new PackedReader(bytes);
    for (const text of readTexts(from)) facts.add(text);
    for (const text of readTexts(from)) sources.add(text);
    while (!from.isAtEnd) {
      const assetKey = facts.textOf(from.count());
      const flags = from.byte();
      const timeNs = from.integer();
      const blocks = this.blocksOf.get(assetKey) ?? [];
      if (blocks.length === 0) this.blocksOf.set(assetKey, blocks);
      if ((flags & IS_NEW_BLOCK) !== 0) blocks.push(new BlockWriter(this.texts));
      const block = blocks.at(-1);
      if (block === undefined) throw new RangeError('an entry has no block');
      block.signatures.bytes(from.sized());
      block.inputs.bytes(from.sized());
      block.note(timeNs);
      this.#note(timeNs, (flags & IS_CARRIED) !== 0);
    }
    this.bytes += bytes.length;
  }

  blocks(assetKey: string): readonly ChunkBlock[] {
    return (this.blocksOf.get(assetKey) ?? []).map((block) => ({
      assetKey,
      entries: block.entries,
      minNs: block.minNs,
      maxNs: block.maxNs,
    }));
  }

  bytesOf(assetKey: string, index: number): BlockBytes {
    const block = this.blocksOf.get(assetKey)![index]!;
    // The bytes are copied, because the block grows.
    return { signatures: Buffer.from(block.signatures.since(0)), inputs: Buffer.from(block.inputs.since(0)) };
  }

  #blockFor(assetKey: string): [block: BlockWriter, isNew: boolean] {
    let blocks = this.blocksOf.get(assetKey);
    if (blocks === undefined) {
      blocks = [];
      this.blocksOf.set(assetKey, blocks);
    }
    const last = blocks.at(-1);
    if (last !== undefined && last.entries < BLOCK_ENTRIES_MAX) return [last, false];
    const block = new BlockWriter(this.texts);
    blocks.push(block);
    return [block, true];
  }

  #note(timeNs: bigint, isCarried: boolean): void {
    if (isCarried) return;
    if (this.firstNs === undefined || timeNs < this.firstNs) this.firstNs = timeNs;
    if (timeNs > this.lastNs) this.lastNs = timeNs;
  }
}

const IS_NEW_BLOCK = 0x01;
const IS_CARRIED = 0x02;

/** Symbols contain no spaces. */
const SEPARATOR = ' ';

/** Returns the name of an asset in the past, such as `BTCUSD evm`. It does not depend on the configuration. */
export function assetKeyOf({ symbol, signatureType }: AssetName): string {
  return `${symbol}${SEPARATOR}${signatureType}`;
}

export function nameOfKey(assetKey: string): AssetName {
  const [symbol, signatureType] = assetKey.split(SEPARATOR);
  return { symbol: symbol!, signatureType: signatureType as SignatureType };
}

export function writeTexts(out: PackedWriter, texts: readonly string[]): void {
  out.count(texts.length);
  for (const text of texts) out.sized(Buffer.from(text));
}

export function readTexts(from: PackedReader): string[] {
  const texts: string[] = [];
  for (let left = from.count(); left > 0; left--) texts.push(from.sized().toString());
  return texts;
}
