import { z } from 'zod';
import { SIGNATURE_TYPES } from '../../wire/signatures.js';

/** The largest number of assets in a question. */
export const QUESTION_NAMES_MAX = 1_000;

/** A time in UNIX nanoseconds, or a length of time. JSON numbers do not hold all digits, so it is a text. */
export const nanoseconds = z
  .string()
  .regex(/^(?:0|[1-9][0-9]{0,18})$/)
  .transform(BigInt)
  .refine((value) => value < 2n ** 63n);

const assetName = z.object({ symbol: z.string().max(256), signatureType: z.enum(SIGNATURE_TYPES) });
const names = z.array(assetName).max(QUESTION_NAMES_MAX).readonly();
const instantQuestion = z.object({ about: z.literal('instant'), names, atNs: nanoseconds });
const rangeQuestion = z.object({
  about: z.literal('range'),
  name: assetName,
  fromNs: nanoseconds,
  toNs: nanoseconds,
  everyNs: nanoseconds.optional(),
  withInputs: z.boolean(),
  rowsMax: z.int().positive(),
});

/** A question about the aggregates that were in force at an instant. */
export type InstantQuestion = z.infer<typeof instantQuestion>;

/**
 * A question about the aggregates of a range: `fromNs` <= time < `toNs`. With `everyNs`, only the last aggregate of each interval of this
 * length is wanted.
 */
export type RangeQuestion = z.infer<typeof rangeQuestion>;

/** A question of a node about aggregates that are older than its own past. Another node answers it from its own past only. */
export type PastQuestion = InstantQuestion | RangeQuestion;

export function encodeQuestion(question: PastQuestion): Buffer {
  return Buffer.from(withTexts(question));
}

/** @throws SyntaxError or ZodError when the bytes are not a question */
export function decodeQuestion(bytes: Uint8Array): PastQuestion {
  return z.discriminatedUnion('about', [instantQuestion, rangeQuestion]).parse(parseBytes(bytes));
}

/** Returns the JSON text of a value with nanoseconds. */
export function withTexts(value: object): string {
  return JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one));
}

function parseBytes(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
}
