import { PAYLOAD_SIGNATURE, SIMPLIFIED_LAYOUT } from '../../src/wire/payload_fields.js';

const SIGNED_HEAD = '{"type":"signed_ecdsa","p":"0x';
const TIMESTAMP_BYTES = 8;
/** The place of the timestamp's first hexadecimal digit in a signed frame. */
const TIMESTAMP_AT = SIGNED_HEAD.length + 2 * (PAYLOAD_SIGNATURE.bytes + SIMPLIFIED_LAYOUT.head.at.timestamp);
const UNSIGNED_TIME = '"ts":';
const DIGITS_MAX = 19;

/** Returns the time of a price frame in nanoseconds; `undefined` for other messages. */
export function frameTimeNs(frame: Buffer): bigint | undefined {
  if (frame.length > TIMESTAMP_AT && frame.toString('latin1', 0, SIGNED_HEAD.length) === SIGNED_HEAD)
    return BigInt(`0x${frame.toString('latin1', TIMESTAMP_AT, TIMESTAMP_AT + 2 * TIMESTAMP_BYTES)}`);
  const at = frame.indexOf(UNSIGNED_TIME);
  if (at < 0) return undefined;
  const [digits] = /^\d*/.exec(
    frame.toString('latin1', at + UNSIGNED_TIME.length, at + UNSIGNED_TIME.length + DIGITS_MAX),
  )!;
  return digits === '' ? undefined : BigInt(digits);
}
