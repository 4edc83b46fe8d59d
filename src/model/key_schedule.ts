import type { TimeNs } from './time.js';

/** The time span in which a key signs: from `fromNs` on, and before `untilNs`. */
export interface KeySpan {
  readonly fromNs: TimeNs;
  /** The end of the span; `undefined` when the key has no end. */
  readonly untilNs: TimeNs | undefined;
}

/** A private key of 32 bytes, and the time span in which it signs. */
export interface TimedKey extends KeySpan {
  readonly key: Buffer;
}

/** A key that signs at all times, or the keys of one use in the order of their times. Each key ends when the next key begins. */
export type PrivateKey = Buffer | readonly TimedKey[];

/** The state of a key at a time. */
export type KeyState = 'present' | 'next' | 'former';

/** Returns a key's time spans. A key without a time span signs at all times. */
export function timedKeysOf(key: PrivateKey | undefined): readonly TimedKey[] {
  if (key === undefined) return [];
  return Buffer.isBuffer(key) ? [{ key, fromNs: 0n as TimeNs, untilNs: undefined }] : key;
}

/**
 * Returns the item whose span contains a time. For a time before all spans, returns the first item, because a clock may be set back.
 * @param spans at least one item, in the order of their times
 */
export function inForceAt<Span extends KeySpan>(spans: readonly Span[], timeNs: bigint): Span {
  let found = spans[0]!;
  for (const span of spans) if (span.fromNs <= timeNs) found = span;
  return found;
}
