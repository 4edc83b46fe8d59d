import { TIMESTAMP_DIGITS_MAX, TIMESTAMP_PATTERN } from '../wire/quantized_price.js';

/** UNIX time in nanoseconds, exact. A `number` cannot hold one. */
export type TimeNs = bigint & { readonly timeNs: unique symbol };

export const NS_PER_MS = 1_000_000n;
export const NS_PER_SECOND = 1_000_000_000n;

/** The latest time: 2^63-1 ns is in the year 2262; the wire's timestamps are int64. */
const TIME_MAX = 2n ** 63n - 1n;

/** The source of the time. The entry point passes one down, so tests use a clock of their own. */
export interface Clock {
  nowNs(): TimeNs;
  /**
   * The distance by which the wall clock is ahead of this clock while a jump of the wall clock is not accepted; otherwise 0 or
   * absent.
   */
  readonly jumpNs?: bigint;
  /** The number of jumps of the wall clock that this clock has noticed. */
  readonly jumps?: number;
  /** Sets a witness, without whose agreement no jump of the wall clock is accepted. */
  heed?(witness: JumpWitness): void;
}

/** Tells whether the wall clock is right after a jump by `jumpNs`. */
export type JumpWitness = (jumpNs: bigint) => boolean;

/**
 * Reads a nanosecond timestamp from its decimal digits.
 * @returns the time, or `undefined` when the text is not a plain decimal int64 of 0 or above.
 */
export function parseTimeNs(text: string): TimeNs | undefined {
  if (text.length > TIMESTAMP_DIGITS_MAX || !TIMESTAMP_PATTERN.test(text)) return undefined;
  const value = BigInt(text);
  return value > TIME_MAX ? undefined : (value as TimeNs);
}

/** Returns the earlier of two times; `undefined` stands for no time. */
export function earlierOf(oneNs: bigint | undefined, otherNs: bigint | undefined): bigint | undefined {
  if (oneNs === undefined || otherNs === undefined) return oneNs ?? otherNs;
  return oneNs < otherNs ? oneNs : otherNs;
}

/**
 * Returns the time so many milliseconds later, rounded up; `timeNs` itself for a negative number of them, and no time for an
 * infinite one.
 */
export function laterByMs(timeNs: bigint, ms: number): bigint | undefined {
  if (ms === Number.POSITIVE_INFINITY) return undefined;
  return timeNs + BigInt(Math.max(0, Math.ceil(ms * Number(NS_PER_MS))));
}

/** Returns the first multiple of a step that is later. */
export function nextMultiple(timeNs: bigint, stepNs: bigint): bigint {
  return (timeNs / stepNs + 1n) * stepNs;
}

/** Returns the whole UNIX second that `timeNs` lies in, as a bigint. */
export function secondOf(timeNs: TimeNs): bigint {
  return timeNs / NS_PER_SECOND;
}

/** Returns the whole UNIX millisecond that `timeNs` lies in; a double can represent it exactly. */
export function millisecondOf(timeNs: TimeNs): number {
  return Number(timeNs / NS_PER_MS);
}
