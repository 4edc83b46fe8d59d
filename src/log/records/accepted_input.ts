import type { RememberedUpdate, SeenUpdates } from '../../model/seen_updates.js';
import type { PublisherPrice } from '../../model/signed_price.js';
import type { TimeNs } from '../../model/time.js';
import type { SignatureType } from '../../wire/signatures.js';
import { inputText, readInputText } from './signed_line.js';

/** The latest accepted input of a publisher for an asset. */
export interface AcceptedInput {
  readonly input: PublisherPrice;
  /** The window of updates that the service remembers. */
  readonly seen: SeenUpdates;
  /** The bytes of the record, if another node has encoded them. */
  readonly bytes?: Uint8Array;
}

/**
 * Encodes an accepted input as one line of JSON in UTF-8:
 *
 * {"input":{…},"floor":"1772459998123456789","senders":["alice"],"seen":"…"}
 *
 * `input` has the form of `signed_prices`, and `floor` is the start of the window. `seen` is the base64 of a row of 18 bytes for each
 * remembered update, in the order of arrival and little-endian: hash key (double), second and nanoseconds (uint32), and the place of the
 * sender in `senders` (uint16). Text of numbers would take 20 times as long, and a full window would not fit in a record of the cluster.
 */
export function encodeAcceptedInput(accepted: AcceptedInput, type: SignatureType): Uint8Array {
  // An opened record must not be decoded only to be encoded again.
  if (accepted.bytes !== undefined) return accepted.bytes;
  return Buffer.from(acceptedText(inputText(accepted.input, type), accepted.seen));
}

/** Returns the text of {@link encodeAcceptedInput}. @param input the input in the form of `signed_prices` */
export function acceptedText(input: string, { floorNs, updates }: SeenUpdates): string {
  const senders: string[] = [];
  const rows = rowsOf(updates, senders).toString('base64');
  return `{"input":${input},"floor":"${floorNs}","senders":${JSON.stringify(senders)},"seen":"${rows}"}`;
}

/** Reads a text of {@link acceptedText}. @throws RangeError when it is another text */
export function readAcceptedText(text: string): { readonly input: string; readonly seen: SeenUpdates } {
  // An input may contain this text in `metadata`, but nothing after the input may.
  const end = text.lastIndexOf(AFTER_INPUT);
  const found = END.exec(text.slice(end));
  if (!text.startsWith(BEFORE_INPUT) || found === null) throw unreadableInput();
  const input = text.slice(BEFORE_INPUT.length, end);
  const updates = updatesOf(Buffer.from(found[3]!, 'base64'), JSON.parse(found[2]!) as string[]);
  return { input, seen: { floorNs: BigInt(found[1]!) as TimeNs, updates } };
}

/** Reads a record of {@link encodeAcceptedInput}. @throws RangeError when the bytes are not such a record */
export function decodeAcceptedInput(bytes: Uint8Array): AcceptedInput {
  const { input, seen } = readAcceptedText(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(),
  );
  return { input: readInputText(input), seen };
}

/**
 * Opens a record like {@link decodeAcceptedInput} and keeps its bytes. The record is decoded at its first use, because some callers never
 * use it.
 */
export function openAcceptedInput(bytes: Uint8Array): AcceptedInput {
  let read: AcceptedInput | undefined;
  const inside = () => (read ??= decodeAcceptedInput(bytes));
  return {
    bytes,
    get input() {
      return inside().input;
    },
    get seen() {
      return inside().seen;
    },
  };
}

const BEFORE_INPUT = '{"input":';
const AFTER_INPUT = ',"floor":';
const END = /^,"floor":"(-?[0-9]{1,19})","senders":(\[.*\]),"seen":"([A-Za-z0-9+/]*={0,2})"\}$/s;

const ROW_BYTES = 18;

function rowsOf(updates: readonly RememberedUpdate[], senders: string[]): Buffer {
  const rows = Buffer.allocUnsafe(ROW_BYTES * updates.length);
  const view = new DataView(rows.buffer, rows.byteOffset, rows.length);
  const places = new Map<string, number>();
  let at = 0;
  for (const { hashKey, second, nanos, sender } of updates) {
    let place = places.get(sender);
    if (place === undefined) {
      place = senders.push(sender) - 1;
      places.set(sender, place);
    }
    view.setFloat64(at, hashKey, true);
    view.setUint32(at + 8, second, true);
    view.setUint32(at + 12, nanos, true);
    view.setUint16(at + 16, place, true);
    at += ROW_BYTES;
  }
  return rows;
}

function updatesOf(rows: Buffer, senders: readonly string[]): RememberedUpdate[] {
  if (rows.length % ROW_BYTES !== 0) throw unreadableInput();
  const updates: RememberedUpdate[] = [];
  for (let at = 0; at < rows.length; at += ROW_BYTES) {
    const sender = senders[rows.readUInt16LE(at + 16)];
    if (sender === undefined) throw unreadableInput();
    updates.push({
      hashKey: rows.readDoubleLE(at),
      second: rows.readUInt32LE(at + 8),
      nanos: rows.readUInt32LE(at + 12),
      sender,
    });
  }
  return updates;
}

function unreadableInput(): RangeError {
  return new RangeError('the record of an accepted input cannot be read');
}
