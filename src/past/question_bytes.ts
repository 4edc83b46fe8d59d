import type { AssetName } from '../model/asset_map.js';
import { SIGNATURE_TYPES } from '../wire/signatures.js';
import { PackedReader, PackedWriter } from './packed_bytes.js';

/** A question of a node about aggregates that are older than its own past. Another node answers it from its own past only. */
export type PastQuestion = InstantQuestion | RangeQuestion;

/** A question about the aggregates that were in force at an instant. */
export interface InstantQuestion {
  readonly about: 'instant';
  readonly names: readonly AssetName[];
  readonly atNs: bigint;
}

/** A question about the aggregates of a range: `fromNs` <= time < `toNs`. */
export interface RangeQuestion {
  readonly about: 'range';
  readonly name: AssetName;
  readonly fromNs: bigint;
  readonly toNs: bigint;
  /** The length of the intervals, if only the last aggregate of each interval is wanted; `undefined` for all aggregates. */
  readonly everyNs: bigint | undefined;
  readonly withInputs: boolean;
  readonly rowsMax: number;
}

/** The first byte of a question and of its answer. */
export const QUESTION_VERSION = 1;
/** The largest number of assets in a question. */
export const QUESTION_NAMES_MAX = 1_000;
const SYMBOL_BYTES_MAX = 256;
const TIME_NS_MAX = 2n ** 63n - 1n;
const [INSTANT, RANGE] = [1, 2];

export function encodeQuestion(question: PastQuestion): Buffer {
  const out = new PackedWriter();
  out.byte(QUESTION_VERSION);
  if (question.about === 'instant') {
    out.byte(INSTANT);
    out.integer(question.atNs);
    out.count(question.names.length);
    for (const name of question.names) writeName(out, name);
    return out.take();
  }
  out.byte(RANGE);
  writeName(out, question.name);
  out.integer(question.fromNs);
  out.integer(question.toNs);
  out.integer(question.everyNs ?? 0n);
  out.byte(question.withInputs ? 1 : 0);
  out.count(question.rowsMax);
  return out.take();
}

/** @throws RangeError when the bytes are not a question */
export function decodeQuestion(bytes: Uint8Array): PastQuestion {
  const from = new PackedReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  if (from.byte() !== QUESTION_VERSION) throw new RangeError('the question has another version');
  const question = from.byte() === INSTANT ? readInstant(from) : readRange(from);
  if (!from.isAtEnd) throw new RangeError('the question is too long');
  return question;
}

function readInstant(from: PackedReader): InstantQuestion {
  const atNs = readTime(from);
  const count = from.count();
  if (count > QUESTION_NAMES_MAX) throw new RangeError('the question has too many assets');
  return { about: 'instant', atNs, names: Array.from({ length: count }, () => readName(from)) };
}

function readRange(from: PackedReader): RangeQuestion {
  const name = readName(from);
  const fromNs = readTime(from);
  const toNs = readTime(from);
  const everyNs = readTime(from);
  const withInputs = from.byte() === 1;
  const rowsMax = from.count();
  if (!(rowsMax >= 1)) throw new RangeError('the question wants no rows');
  return {
    about: 'range',
    name,
    fromNs,
    toNs,
    everyNs: everyNs === 0n ? undefined : everyNs,
    withInputs,
    rowsMax,
  };
}

function readTime(from: PackedReader): bigint {
  const timeNs = from.integer();
  if (timeNs < 0n || timeNs > TIME_NS_MAX) throw new RangeError('a time is out of range');
  return timeNs;
}

function writeName(out: PackedWriter, { symbol, signatureType }: AssetName): void {
  out.sized(Buffer.from(symbol));
  out.byte(SIGNATURE_TYPES.indexOf(signatureType));
}

function readName(from: PackedReader): AssetName {
  const symbol = from.sized();
  const signatureType = SIGNATURE_TYPES[from.byte()];
  if (symbol.length > SYMBOL_BYTES_MAX || signatureType === undefined)
    throw new RangeError('the question has an invalid asset');
  return { symbol: symbol.toString(), signatureType };
}
