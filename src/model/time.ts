import { TIMESTAMP_DIGITS_MAX, TIMESTAMP_PATTERN } from '../wire/quantized_price.js';

/** A UNIX time in nanoseconds, exact. A `number` cannot contain such a time exactly. */
export type TimeNs = bigint & { readonly timeNs: unique symbol };

// Declared as bigint: a literal in a declaration file is an error for compilers whose target is below ES2020.
export const NS_PER_MS: bigint = 1_000_000n;
export const NS_PER_SECOND: bigint = 1_000_000_000n;

/** The latest time, 2^63-1 ns, in the year 2262. Timestamps are sent as int64. */
const TIME_MAX = 2n ** 63n - 1n;

/** The source of the time. The entry point passes a clock to all parts, so tests can use a different clock. */
export interface Clock {
  nowNs(): TimeNs;
  /**
   * The distance by which the wall clock is ahead of this clock after a jump that this clock has not accepted yet; otherwise 0 or
   * absent.
   */
  readonly jumpNs?: bigint;
  /** The number of jumps of the wall clock that this clock has noticed. */
  readonly jumps?: number;
  /** Sets a witness. After this call, the clock accepts a jump of the wall clock only if the witness agrees. */
  heed?(witness: JumpWitness): void;
}

/** Returns whether the wall clock is right after a jump by `jumpNs`. */
export type JumpWitness = (jumpNs: bigint) => boolean;

/**
 * Reads a nanosecond timestamp from its decimal digits.
 * @returns the time, or `undefined` when the text is not a plain decimal int64 of at least 0.
 */
export function parseTimeNs(text: string): TimeNs | undefined {
  if (text.length > TIMESTAMP_DIGITS_MAX || !TIMESTAMP_PATTERN.test(text)) return undefined;
  const value = BigInt(text);
  return value > TIME_MAX ? undefined : (value as TimeNs);
}

/** Returns the earlier of two times. `undefined` stands for no time. */
export function earlierOf(oneNs: bigint | undefined, otherNs: bigint | undefined): bigint | undefined {
  if (oneNs === undefined || otherNs === undefined) return oneNs ?? otherNs;
  return oneNs < otherNs ? oneNs : otherNs;
}

/**
 * Returns the time `ms` milliseconds after `timeNs`, rounded up. Returns `timeNs` itself if `ms` is negative, and `undefined` if `ms`
 * is infinite.
 */
export function laterByMs(timeNs: bigint, ms: number): bigint | undefined {
  if (ms === Number.POSITIVE_INFINITY) return undefined;
  return timeNs + BigInt(Math.max(0, Math.ceil(ms * Number(NS_PER_MS))));
}

/** Returns the first multiple of `stepNs` that is later than `timeNs`. */
export function nextMultiple(timeNs: bigint, stepNs: bigint): bigint {
  return (timeNs / stepNs + 1n) * stepNs;
}

/** Returns the whole UNIX second of `timeNs`, as a bigint. */
export function secondOf(timeNs: TimeNs): bigint {
  return timeNs / NS_PER_SECOND;
}

/** Returns the whole UNIX millisecond of `timeNs`. A double can represent this number exactly. */
export function millisecondOf(timeNs: TimeNs): number {
  return Number(timeNs / NS_PER_MS);
}
