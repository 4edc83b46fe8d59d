import type { AssetIndex } from '../model/asset.js';
import type { TimeNs } from '../model/time.js';
import { MARKET_STATUS_CODES, NO_SCHEDULE } from '../wire/market_status.js';
import {
  LAYOUT_MAGIC,
  LAYOUT_VERSION,
  MASK_PRICE_AND_MARKET_STATUS,
  PAYLOAD_SIGNATURE,
  SIMPLIFIED_LAYOUT,
  VERSIONED_LAYOUT,
} from '../wire/payload.js';
import { MESSAGE_TYPES } from '../wire/stream.js';
import { ENTRY_BYTES, HEX_OF_BYTE, type PriceTable } from './price_table.js';

declare global {
  // Node's own fast paths behind `write` and `toString`; its typings leave them out.
  interface Buffer {
    latin1Write(text: string, offset: number): number;
    hexSlice(): string;
  }
}

// Where the fields of a payload's head lie, read from the layouts once.
const SIMPLIFIED_HEAD_BYTES = SIMPLIFIED_LAYOUT.head.bytes;
const SIMPLIFIED_TAXONOMY_AT = SIMPLIFIED_LAYOUT.head.at['taxonomy ID'];
const SIMPLIFIED_TIME_AT = SIMPLIFIED_LAYOUT.head.at.timestamp;
const VERSIONED_HEAD_BYTES = VERSIONED_LAYOUT.head.bytes;
const VERSIONED_AT = VERSIONED_LAYOUT.head.at;
const VERSIONED_TAXONOMY_AT = VERSIONED_AT['taxonomy ID'];
const VERSIONED_TIME_AT = VERSIONED_AT.timestamp;
const MAGIC_AT = VERSIONED_AT.magic;
const VERSION_AT = VERSIONED_AT.version;
const MASK_AT = VERSIONED_AT['attribute mask'];

/** The head with its longest taxonomy ID and timestamp takes 62 bytes. */
const UNSIGNED_HEAD_BYTES_MAX = 80;
/** An element with its longest ID, price and status takes 66 bytes. */
export const UNSIGNED_ELEMENT_BYTES_MAX = 72;
/**
 * Every element begins with a comma. The bracket that opens the array overwrites the first comma, at the end of the head.
 */
export const OPENING_BRACKET = '['.charCodeAt(0);
export const UNSIGNED_TAIL = ']}';

const [UNSIGNED, SIGNED] = MESSAGE_TYPES;
const UNSIGNED_HEAD = `{"type":"${UNSIGNED}","tax":`;
const FRAME_HEAD = `{"type":"${SIGNED}","p":"0x`;
const FRAME_TAIL = '"}';
/** Both, like the hex between them, have an even number of bytes, so a signed frame is written two bytes at a time. */
const [FRAME_TAIL_PAIR] = new Uint16Array(Uint8Array.from(Buffer.from(FRAME_TAIL, 'latin1')).buffer);
const SIGNATURE_PAIRS_AT = FRAME_HEAD.length / 2;
const BODY_PAIRS_AT = SIGNATURE_PAIRS_AT + PAYLOAD_SIGNATURE.bytes;
const SIGNED_FRAME_BYTES_EMPTY =
  FRAME_HEAD.length + 2 * (PAYLOAD_SIGNATURE.bytes + VERSIONED_HEAD_BYTES) + FRAME_TAIL.length;

/** A signature over the Keccak-256 of a payload's body. */
export interface PayloadSignature {
  /** 32 bytes each. */
  readonly r: Uint8Array;
  readonly s: Uint8Array;
  readonly recovery: 0 | 1;
}

/**
 * Encodes frames into its own buffers. It returns a view that the next call overwrites.
 *
 * Measured for 100 assets: to concatenate the table's flat texts and write them once takes 2 µs; with ropes 6, as copied
 * bytes 5 to 8, with `JSON.stringify` 18.
 */
export class FrameEncoder {
  readonly #table: PriceTable;
  readonly #taxonomyId: number;
  readonly #unsigned: Buffer;
  readonly #signed: Buffer;
  /** The same memory as `#signed`. */
  readonly #signedPairs: Uint16Array;
  readonly #body: Buffer;
  /** The body whose hex stands in `#signed`, as {@link payloadBody} returned it. */
  #hexOf: Buffer | undefined;

  constructor(table: PriceTable, taxonomyId: number) {
    this.#table = table;
    this.#taxonomyId = taxonomyId;
    const assets = table.ids.length;
    const bodyBytesMax = VERSIONED_HEAD_BYTES + assets * VERSIONED_LAYOUT.asset.bytes;
    this.#body = Buffer.allocUnsafeSlow(bodyBytesMax);
    this.#unsigned = Buffer.allocUnsafeSlow(UNSIGNED_HEAD_BYTES_MAX + assets * UNSIGNED_ELEMENT_BYTES_MAX);
    this.#signed = Buffer.allocUnsafeSlow(
      SIGNED_FRAME_BYTES_EMPTY + 2 * assets * VERSIONED_LAYOUT.asset.bytes,
    );
    this.#signed.latin1Write(FRAME_HEAD, 0);
    this.#signedPairs = new Uint16Array(this.#signed.buffer);
  }

  /**
   * The finished `unsigned` frame.
   * @param assets indexes of live assets, ascending by ID
   * @param statuses per asset index the market status or {@link NO_SCHEDULE}, for connections with `addtl_attrs=ms`
   */
  unsignedFrame(assets: readonly AssetIndex[], timestampNs: TimeNs, statuses?: Uint8Array): Buffer {
    const head = unsignedHead(this.#taxonomyId, timestampNs);
    let text = head;
    for (let i = 0; i < assets.length; i++) {
      const asset = assets[i]!;
      text += unsignedElement(this.#table, asset, statuses === undefined ? NO_SCHEDULE : statuses[asset]!);
    }
    const length = this.#unsigned.latin1Write(text + UNSIGNED_TAIL, 0);
    this.#unsigned[head.length] = OPENING_BRACKET;
    return this.#unsigned.subarray(0, length);
  }

  /**
   * The body of a `signed_ecdsa` payload: the simplified layout, or the versioned one with `statuses`. Its hex is written into the
   * frame at once, for {@link signedFrame}.
   */
  payloadBody(assets: readonly AssetIndex[], timestampNs: TimeNs, statuses?: Uint8Array): Buffer {
    const table = this.#table;
    const { entries, hexEntries, stale } = table;
    for (let i = 0; i < assets.length; i++) if (stale[assets[i]!] === 1) table.encode(assets[i]!);
    const body = this.#body;
    const pairs = this.#signedPairs;
    let at =
      statuses === undefined ? this.#simplifiedHeader(timestampNs) : this.#versionedHeader(timestampNs);
    writeHex(body, 0, at, pairs, BODY_PAIRS_AT);
    for (let i = 0; i < assets.length; ) {
      const first = assets[i]!;
      const run = statuses === undefined ? runLength(assets, i) : 1;
      let from = first * ENTRY_BYTES;
      const to = from + run * ENTRY_BYTES;
      // A loop takes 3 ns for each byte, a native copy the time of a call: it is faster for several neighbours.
      if (run >= COPIED_RUN_MIN) {
        pairs.set(hexEntries.subarray(from, to), BODY_PAIRS_AT + at);
        at += entries.copy(body, at, from, to);
      } else {
        for (; from < to; from++, at++) {
          body[at] = entries[from]!;
          pairs[BODY_PAIRS_AT + at] = hexEntries[from]!;
        }
      }
      if (statuses !== undefined) {
        const status = statuses[first]!;
        pairs[BODY_PAIRS_AT + at] = HEX_OF_BYTE[status]!;
        body[at++] = status;
      }
      i += run;
    }
    this.#hexOf = body.subarray(0, at);
    return this.#hexOf;
  }

  /** The finished `signed_ecdsa` frame of a body, the last one that {@link payloadBody} made or a copy, and its signature. */
  signedFrame(body: Buffer, { r, s, recovery }: PayloadSignature): Buffer {
    const pairs = this.#signedPairs;
    let at = writeHex(r, 0, r.length, pairs, SIGNATURE_PAIRS_AT);
    at = writeHex(s, 0, s.length, pairs, at);
    pairs[at] = HEX_OF_BYTE[recovery]!;
    if (body !== this.#hexOf) {
      this.#hexOf = undefined;
      if (body.length > HEX_TABLE_BYTES_MAX) this.#signed.latin1Write(body.hexSlice(), 2 * BODY_PAIRS_AT);
      else writeHex(body, 0, body.length, pairs, BODY_PAIRS_AT);
    }
    const end = BODY_PAIRS_AT + body.length;
    pairs[end] = FRAME_TAIL_PAIR!;
    return this.#signed.subarray(0, 2 * (end + 1));
  }

  #simplifiedHeader(timestampNs: TimeNs): number {
    this.#body.writeUInt16BE(this.#taxonomyId, SIMPLIFIED_TAXONOMY_AT);
    this.#body.writeBigUInt64BE(timestampNs, SIMPLIFIED_TIME_AT);
    return SIMPLIFIED_HEAD_BYTES;
  }

  #versionedHeader(timestampNs: TimeNs): number {
    this.#body[MAGIC_AT] = LAYOUT_MAGIC;
    this.#body[VERSION_AT] = LAYOUT_VERSION;
    this.#body.writeUInt16BE(MASK_PRICE_AND_MARKET_STATUS, MASK_AT);
    this.#body.writeUInt16BE(this.#taxonomyId, VERSIONED_TAXONOMY_AT);
    this.#body.writeBigUInt64BE(timestampNs, VERSIONED_TIME_AT);
    return VERSIONED_HEAD_BYTES;
  }
}

/** An `unsigned` frame up to its array. */
export function unsignedHead(taxonomyId: number, timestampNs: TimeNs | string): string {
  return `${UNSIGNED_HEAD}${taxonomyId},"ts":${timestampNs},"a":`;
}

/** An asset in an `unsigned` frame, with a comma before it. @param status `NO_SCHEDULE` leaves it out */
export function unsignedElement(table: PriceTable, asset: AssetIndex, status: number): string {
  if (status === NO_SCHEDULE) return table.closedTexts[asset] || table.closedText(asset);
  return (table.openTexts[asset] || table.openText(asset)) + STATUS_TEXTS[status]!;
}

/** How many bytes follow the digits of a price in {@link unsignedElement}. */
export function bytesAfterDigits(status: number): number {
  return status === NO_SCHEDULE ? '"}'.length : '"'.length + STATUS_TEXTS[status]!.length;
}

const COPIED_RUN_MIN = 3;

/** How many assets from `start` on are neighbours in the table. */
function runLength(assets: readonly AssetIndex[], start: number): number {
  let end = start + 1;
  while (end < assets.length && assets[end] === assets[end - 1]! + 1) end++;
  return end - start;
}

const STATUS_TEXTS = MARKET_STATUS_CODES.map((status) => `,"ms":${status}}`);

/** For up to about 10 assets a table is faster than to make a string and write it; for more the string is faster. */
const HEX_TABLE_BYTES_MAX = 200;

/** Writes the digits of some bytes. @returns where the next ones go */
function writeHex(bytes: Uint8Array, from: number, to: number, pairs: Uint16Array, at: number): number {
  for (let i = from; i < to; i++) pairs[at + i - from] = HEX_OF_BYTE[bytes[i]!]!;
  return at + to - from;
}
