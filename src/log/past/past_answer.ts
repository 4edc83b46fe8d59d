import { z } from 'zod';
import type { AssetName } from '../../model/asset_map.js';
import { parseTimeNs, type TimeNs } from '../../model/time.js';
import { SIGNATURE_TYPES } from '../../wire/signatures.js';
import { LineReader, type ShownAggregate, writeAggregateLine } from '../records/signed_line.js';
import { withoutInputs } from './kept_line.js';
import type { LineEntry, PastEntry, StateEntry } from './past_entry.js';
import { nanoseconds, withTexts } from './past_question.js';

/** The first line of an answer. */
const answerHead = z.discriminatedUnion('state', [
  /**
   * The node has the past at the time of the question. `reached` is the end of the answered part: for an instant, the number of answered
   * assets; for a range, the end of the answered range. The entries follow, one in each line.
   */
  z.object({ state: z.literal('kept'), reached: nanoseconds }),
  /** The node's past begins later; it has no past without `keptFromNs`. */
  z.object({ state: z.literal('gone'), keptFromNs: nanoseconds.optional() }),
  /** The node is already answering enough questions. */
  z.object({ state: z.literal('busy') }),
  /** The node cannot answer, for example because its past is damaged. */
  z.object({ state: z.literal('failed') }),
]);

/** The line of the end of a price. */
const endLine = z.object({
  ended: z.string().max(256),
  type: z.enum(SIGNATURE_TYPES),
  at: z
    .string()
    .transform((text) => parseTimeNs(text))
    .pipe(z.custom<TimeNs>((time) => time !== undefined)),
});

/** An aggregate of an answer. Its line is written from its fields, so it has the only form of this aggregate. */
export interface ReceivedLine extends LineEntry, ShownAggregate {}

/** An entry of an answer, and its asset. */
export type NamedEntry = readonly [AssetName, ReceivedLine | StateEntry];

/** The answer of a node to a question about the past. */
export type PastAnswer =
  | (Extract<z.infer<typeof answerHead>, { state: 'kept' }> & { readonly entries: Iterable<NamedEntry> })
  | Exclude<z.infer<typeof answerHead>, { state: 'kept' }>;

/** The largest size of an answer, which fits in a message between nodes. */
export const ANSWER_BYTES_MAX = 1_000 * 1024;

/** Encodes an answer without entries. */
export function shortAnswer(state: 'busy' | 'failed'): Buffer {
  return Buffer.from(withTexts({ state }));
}

export function goneAnswer(keptFromNs: bigint | undefined): Buffer {
  return Buffer.from(withTexts({ state: 'gone', keptFromNs }));
}

/** Collects the entries of an answer, each as a line. The line of an aggregate is the line that REST shows. */
export class AnswerLines {
  readonly #lines: string[] = [];
  /** The size of the entries. */
  bytes = 0;

  add({ symbol, signatureType }: AssetName, entry: PastEntry, withInputs = true): void {
    const line =
      entry.kind === 'priced'
        ? withInputs
          ? entry.line
          : withoutInputs(entry.line)
        : withTexts({ ended: symbol, type: signatureType, at: entry.timeNs });
    this.#lines.push(line);
    this.bytes += Buffer.byteLength(line) + 1;
  }

  /** @returns the answer; `failed` if it is too large for a message */
  take(reached: bigint): Buffer {
    const answer = Buffer.from([withTexts({ state: 'kept', reached }), ...this.#lines].join('\n'));
    return answer.length > ANSWER_BYTES_MAX ? shortAnswer('failed') : answer;
  }
}

/**
 * Reads an answer. Its entries are read one by one when they are needed, before their verification.
 * @throws RangeError, SyntaxError or ZodError when the bytes are not an answer, also while the entries are read
 */
export function decodeAnswer(bytes: Uint8Array): PastAnswer {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  const [head, ...lines] = text.split('\n');
  const answer = answerHead.parse(JSON.parse(head!));
  return answer.state === 'kept' ? { ...answer, entries: entriesIn(lines) } : answer;
}

function* entriesIn(lines: readonly string[]): Iterable<NamedEntry> {
  const reader = new LineReader();
  for (const line of lines) {
    if (!line.startsWith('{"ended":')) {
      const read = reader.read(line);
      const { aggregate, shown, hasInputs } = read;
      const written = writeAggregateLine(aggregate, shown, hasInputs);
      const timeNs = aggregate.signedAtNs;
      yield [aggregate, { kind: 'priced', timeNs, isCarried: false, line: written, ...read }];
      continue;
    }
    const { ended: symbol, type: signatureType, at: timeNs } = endLine.parse(JSON.parse(line));
    yield [
      { symbol, signatureType },
      { kind: 'ended', timeNs, isCarried: false },
    ];
  }
}
