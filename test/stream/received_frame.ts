import { readPrice } from '../../src/model/price.js';

/** A frame as a client receives it, with the time at which the client's socket received it. */
export interface ReceivedFrame {
  readonly type: string;
  readonly ts: bigint;
  readonly sentAtNs: bigint;
  /** The prices by streaming ID, in the order of the frame. */
  readonly prices: ReadonlyMap<number, bigint>;
  readonly text: string;
}

/** Reads a frame without the code of the encoder; `undefined` for replies. */
export function readFrame(text: string, sentAtNs: bigint): ReceivedFrame | undefined {
  const message = JSON.parse(text.replace(/"ts":(\d+)/, '"ts":"$1"'));
  const { type } = message;
  const prices = new Map<number, bigint>();
  if (type === 'unsigned') {
    for (const { id, v } of message.a) prices.set(id, BigInt(v));
    return { type, ts: BigInt(message.ts), sentAtNs, prices, text };
  }
  if (type !== 'signed_ecdsa') return undefined;
  const body = Buffer.from(message.p.slice(2 + 130), 'hex');
  const isVersioned = body[0] === 0xff;
  const headerBytes = isVersioned ? 14 : 10;
  const entryBytes = isVersioned ? 19 : 18;
  for (let at = headerBytes; at < body.length; at += entryBytes)
    prices.set(body.readUInt16BE(at), readPrice(body, at + 2));
  return { type, ts: body.readBigUInt64BE(headerBytes - 8), sentAtNs, prices, text };
}
