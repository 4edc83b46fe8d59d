/** The power of 10 that scales prices. A price is the real price times 10^18. */
export const PRICE_DECIMALS = 18;

/**
 * The number of bytes of a price in a streaming payload: big-endian two's complement. The bounds of every price follow from
 * this size.
 */
export const PRICE_BYTES = 16;

/** The form of a price in JSON: the plain digits of the scaled integer, without leading zeros or a sign before 0. */
export const PRICE_PATTERN = /^(?:0|-?[1-9][0-9]*)$/;

/** The form of a time in JSON: the plain digits of UNIX nanoseconds. */
export const TIMESTAMP_PATTERN = /^(?:0|[1-9][0-9]*)$/;

/** The number of digits of the latest time, 2^63-1, because timestamps in messages are int64. */
export const TIMESTAMP_DIGITS_MAX = 19;
