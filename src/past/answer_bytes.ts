import type { AssetName } from '../model/asset_map.js';
import { assetKeyOf, readTexts, writeTexts } from './chunk.js';
import { type BlockBytes, type BlockTexts, BlockWriter, readBlock } from './entry_block.js';
import type { KeptEntry } from './kept_entry.js';
import { PackedReader, PackedWriter, TextList } from './packed_bytes.js';
import { QUESTION_VERSION } from './question_bytes.js';

/** The answer of a node to a question about the past. */
export type PastAnswer =
  /**
   * The node has the past at the time of the question. `reached` is the end of the answered part: for an instant, the number of answered
   * assets; for a range, the end of the answered range.
   */
  | { readonly state: 'kept'; readonly reached: bigint; readonly entries: ReceivedEntries }
  /** The node's past begins later; `undefined` if it has no past. */
  | { readonly state: 'gone'; readonly keptFromNs: bigint | undefined }
  /** The node is already answering enough questions. */
  | { readonly state: 'busy' }
  /** The node cannot answer, for example because its past is damaged. */
  | { readonly state: 'failed' };

const STATES = ['kept', 'gone', 'busy', 'failed'] as const;
/** The largest size of an answer. NATS servers accept 1 MiB by default. */
export const ANSWER_BYTES_MAX = 900 * 1024;

/** Encodes an answer without entries. */
export function shortAnswer(state: 'busy' | 'failed'): Buffer {
  return begin(state).take();
}

export function goneAnswer(keptFromNs: bigint | undefined): Buffer {
  const out = begin('gone');
  out.integer(keptFromNs ?? -1n);
  return out.take();
}

function begin(state: PastAnswer['state']): PackedWriter {
  const out = new PackedWriter();
  out.byte(QUESTION_VERSION);
  out.byte(STATES.indexOf(state));
  return out;
}

/** Collects the entries of an answer, in the form that the past uses. */
export class AnswerWriter {
  readonly #texts: BlockTexts = { facts: new TextList(), sources: new TextList() };
  readonly #blockOf = new Map<string, BlockWriter>();
  rows = 0;

  add(name: AssetName, entry: KeptEntry, withInputs = true): void {
    const assetKey = assetKeyOf(name);
    let block = this.#blockOf.get(assetKey);
    if (block === undefined) {
      block = new BlockWriter(this.#texts);
      this.#blockOf.set(assetKey, block);
    }
    const isBare = entry.kind === 'priced' && !withInputs;
    block.write(isBare ? { ...entry, aggregate: { ...entry.aggregate, inputs: [] } } : entry);
    this.rows++;
  }

  /** The size of the entries, without their shared texts. */
  get bytes(): number {
    let bytes = 0;
    for (const { signatures, inputs } of this.#blockOf.values()) bytes += signatures.length + inputs.length;
    return bytes;
  }

  /** @returns the answer; `failed` if it is too large for a message */
  take(reached: bigint): Buffer {
    const out = begin('kept');
    out.integer(reached);
    writeTexts(out, this.#texts.facts.texts);
    writeTexts(out, this.#texts.sources.texts);
    for (const [assetKey, { signatures, inputs }] of this.#blockOf) {
      out.sized(Buffer.from(assetKey));
      out.sized(signatures.since(0));
      out.sized(inputs.since(0));
    }
    return out.length > ANSWER_BYTES_MAX ? shortAnswer('failed') : out.take();
  }
}

/** The entries of an answer, before their verification. */
export class ReceivedEntries {
  readonly #texts: BlockTexts = { facts: new TextList(), sources: new TextList() };
  readonly #bytesOf = new Map<string, BlockBytes>();

  /** @throws RangeError when the bytes are not entries */
  constructor(from: PackedReader) {
    for (const text of readTexts(from)) this.#texts.facts.add(text);
    for (const text of readTexts(from)) this.#texts.sources.add(text);
    while (!from.isAtEnd)
      this.#bytesOf.set(from.sized().toString(), { signatures: from.sized(), inputs: from.sized() });
  }

  /**
   * Reads the entries of an asset in order. An aggregate without inputs means that its inputs are no longer kept, because each aggregate
   * was signed with at least one input.
   * @throws RangeError, SyntaxError or TypeError when the bytes are not entries
   */
  *of(name: AssetName): Iterable<KeptEntry> {
    const bytes = this.#bytesOf.get(assetKeyOf(name));
    if (bytes === undefined) return;
    for (const entry of readBlock(name, bytes, this.#texts))
      if (entry.kind !== 'priced') yield entry;
      else {
        const { aggregate } = entry;
        yield { ...entry, aggregate, hasInputs: aggregate.inputs.length > 0 };
      }
  }
}

/** @throws RangeError or SyntaxError when the bytes are not an answer */
export function decodeAnswer(bytes: Uint8Array): PastAnswer {
  const from = new PackedReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  if (from.byte() !== QUESTION_VERSION) throw new RangeError('the answer has another version');
  const state = STATES[from.byte()];
  switch (state) {
    case 'kept':
      return { state, reached: from.integer(), entries: new ReceivedEntries(from) };
    case 'gone': {
      const keptFromNs = from.integer();
      return { state, keptFromNs: keptFromNs < 0n ? undefined : keptFromNs };
    }
    case undefined:
      throw new RangeError('the answer has an unknown state');
    default:
      return { state };
  }
}
