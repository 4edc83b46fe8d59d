import { PAYLOAD_SIGNATURE, SIMPLIFIED_LAYOUT, VERSIONED_LAYOUT } from '../wire/payload_fields.js';

const TYPE = /^\{"type":"([a-z_]+)"/;
const UNSIGNED_TIME = /^\{"type":"unsigned","tax":\d+,"ts":(\d+)/;
const SIGNED_BODY = /^\{"type":"signed_ecdsa","p":"0x/;
const VERSIONED_MAGIC = 'ff';
const TIME_BYTES = 8;

/**
 * Returns a message of `/ws` as an event of the HTML standard. The event has the message's type, the frame's `ts` as its ID, and the
 * message itself.
 * @param message JSON of the encoder, on one line
 */
export function streamEvent(message: Uint8Array | string): string {
  const text = typeof message === 'string' ? message : Buffer.from(message).toString('latin1');
  const type = TYPE.exec(text)?.[1] ?? 'message';
  const time = timeOf(text);
  return `event: ${type}\n${time === undefined ? '' : `id: ${time}\n`}data: ${text}\n\n`;
}

function timeOf(text: string): string | undefined {
  const unsigned = UNSIGNED_TIME.exec(text)?.[1];
  if (unsigned !== undefined) return unsigned;
  const head = SIGNED_BODY.exec(text)?.[0];
  if (head === undefined) return undefined;
  const bodyAt = head.length + 2 * PAYLOAD_SIGNATURE.bytes;
  const layout = text.startsWith(VERSIONED_MAGIC, bodyAt) ? VERSIONED_LAYOUT : SIMPLIFIED_LAYOUT;
  const at = bodyAt + 2 * layout.head.at.timestamp;
  return String(BigInt(`0x${text.slice(at, at + 2 * TIME_BYTES)}`));
}
