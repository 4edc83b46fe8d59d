import type { AssetIndex } from '../model/asset.js';
import type { TimeNs } from '../model/time.js';
import {
  assetBytes,
  LAYOUT_MAGIC,
  LAYOUT_VERSION,
  SIMPLIFIED_LAYOUT,
  VERSIONED_LAYOUT,
} from '../wire/payload_fields.js';
import { MESSAGE_TYPES } from '../wire/stream.js';
import { MASK_MAX, MASK_PRICE, STREAM_ATTRIBUTES } from '../wire/stream_attributes.js';
import { FrameAttributes } from './frame_attributes.js';
import { ENTRY_BYTES, HEX_OF_BYTE, type PriceTable } from './price_table.js';
import type { SignedBlock } from './signed_block.js';

declare global {
  // Methods that Node's `write` and `toString` use. Node's typings lack them.
  interface Buffer {
    latin1Write(text: string, offset: number): number;
  }
}

// The offsets of the fields in a payload's head, read from the layouts once.
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

/** The largest size of a head; the longest taxonomy ID and timestamp give 62 bytes. */
const UNSIGNED_HEAD_BYTES_MAX = 80;
/** The largest size of an element; the longest ID and price give 59 bytes. */
const UNSIGNED_ELEMENT_BYTES_MAX = STREAM_ATTRIBUTES.reduce(
  (sum, { field, bytes }) => sum + `,"${field}":${256 ** bytes - 1}`.length,
  64,
);
/** The bracket that opens the array. Every element begins with a comma, and this bracket replaces the first comma. */
const OPENING_BRACKET = '['.charCodeAt(0);
const UNSIGNED_TAIL = ']}';
const NO_STATUSES = new Uint8Array(0);

const [UNSIGNED] = MESSAGE_TYPES;
const UNSIGNED_HEAD = `{"type":"${UNSIGNED}","tax":`;

/** The contents of all frames. */
export interface FrameContent {
  readonly table: PriceTable;
  readonly taxonomyId: number;
  /** Returns each asset's market status at a UNIX second, or `NO_SCHEDULE`, by asset index. */
  readonly statusesAt: (unixS: number) => Uint8Array;
}

/**
 * Encodes frames. Returns views of internal buffers, which the next call overwrites.
 *
 * Measured times for 100 assets:
 * - 2 µs to concatenate the table's flat texts and to write them once
 * - 6 µs with ropes
 * - 5 to 8 µs as copied bytes
 * - 18 µs with `JSON.stringify`
 */
export class FrameEncoder {
  readonly #table: PriceTable;
  readonly #taxonomyId: number;
  readonly #attributes: FrameAttributes;
  readonly #unsigned: Buffer;
  readonly #body: Buffer;
  readonly #bodyView: DataView;
  /** The last body. Most bodies have the same length as the previous body, so this view is used again. */
  #lastBody: Uint8Array = new Uint8Array(0);

  /** The views of runs of neighbours, by the first asset modulo {@link KEPT_VIEWS_MAX}. A pair of new views takes 0.2 µs. */
  readonly #views: (EntryViews | undefined)[];
  /** The entries of {@link #views}. A table that changes its size or its IDs has new entries. */
  #viewed: Buffer | undefined;

  constructor(
    table: PriceTable,
    taxonomyId: number,
    statusesAt: FrameContent['statusesAt'] = () => NO_STATUSES,
  ) {
    this.#table = table;
    this.#taxonomyId = taxonomyId;
    this.#attributes = new FrameAttributes(table, statusesAt);
    const assets = table.ids.length;
    this.#views = new Array<undefined>(Math.min(assets, KEPT_VIEWS_MAX)).fill(undefined);
    this.#body = Buffer.allocUnsafeSlow(VERSIONED_HEAD_BYTES + assets * assetBytes(MASK_MAX));
    this.#bodyView = new DataView(this.#body.buffer);
    this.#unsigned = Buffer.allocUnsafeSlow(UNSIGNED_HEAD_BYTES_MAX + assets * UNSIGNED_ELEMENT_BYTES_MAX);
  }

  /**
   * Returns the finished `unsigned` frame.
   * @param assets indexes of live assets, ascending by ID
   * @param mask the attributes of each asset
   */
  unsignedFrame(assets: readonly AssetIndex[], timestampNs: TimeNs, mask = MASK_PRICE): Buffer {
    this.#attributes.begin(mask, timestampNs);
    const head = unsignedHead(this.#taxonomyId, timestampNs);
    let text = head;
    for (let i = 0; i < assets.length; i++) text += this.#unsignedElement(assets[i]!, mask);
    const length = this.#unsigned.latin1Write(text + UNSIGNED_TAIL, 0);
    this.#unsigned[head.length] = OPENING_BRACKET;
    return this.#unsigned.subarray(0, length);
  }

  /**
   * Adds a `signed_ecdsa` frame without its signature to a block.
   * @param mask the attributes of each asset. With attributes, the payload has the versioned layout
   * @param isBinary true for a frame that is the payload itself, without JSON and hex
   * @returns the body to sign, valid until the next call
   */
  addSigned(
    block: SignedBlock,
    assets: readonly AssetIndex[],
    timestampNs: TimeNs,
    mask = MASK_PRICE,
    isBinary = false,
  ): Uint8Array {
    const table = this.#table;
    const { entries, hexEntries } = table;
    const body = this.#body;
    const hasAttributes = mask !== MASK_PRICE;
    let at = this.#writeHead(timestampNs, mask);
    const length = at + assets.length * assetBytes(mask);
    if (this.#lastBody.length !== length) this.#lastBody = new Uint8Array(body.buffer, 0, length);
    if (isBinary) {
      this.#writeAssets(assets, at, hasAttributes);
      block.addBinary(this.#lastBody);
      return this.#lastBody;
    }
    const bodyAt = block.add(length);
    const { pairs } = block;
    for (let i = 0; i < at; i++) pairs[bodyAt + i] = HEX_OF_BYTE[body[i]!]!;
    for (let i = 0; i < assets.length; ) {
      const first = assets[i]!;
      const run = encodedRun(table, assets, i, hasAttributes ? 1 : assets.length);
      // A native copy of several neighbours takes one call; a loop takes 3 ns per byte.
      if (run >= COPIED_RUN_MIN) {
        const views = this.#viewsOf(first, run);
        pairs.set(views.hexEntries, bodyAt + at);
        body.set(views.entries, at);
        at += run * ENTRY_BYTES;
      } else {
        const to = (first + run) * ENTRY_BYTES;
        for (let from = first * ENTRY_BYTES; from < to; from++, at++) {
          body[at] = entries[from]!;
          pairs[bodyAt + at] = hexEntries[from]!;
        }
      }
      if (hasAttributes) {
        const end = this.#attributes.write(first, body, at);
        for (; at < end; at++) pairs[bodyAt + at] = HEX_OF_BYTE[body[at]!]!;
      }
      i += run;
    }
    return this.#lastBody;
  }

  /** Writes the assets of a body without their hex form. */
  #writeAssets(assets: readonly AssetIndex[], from: number, hasAttributes: boolean): void {
    const body = this.#body;
    let at = from;
    for (let i = 0; i < assets.length; ) {
      const first = assets[i]!;
      const run = encodedRun(this.#table, assets, i, hasAttributes ? 1 : assets.length);
      body.set(this.#viewsOf(first, run).entries, at);
      at += run * ENTRY_BYTES;
      if (hasAttributes) at = this.#attributes.write(first, body, at);
      i += run;
    }
  }

  /** Returns the views of the entries of `count` neighbours from `first` on. Most sets are the sets of an earlier frame. */
  #viewsOf(first: AssetIndex, count: number): EntryViews {
    const { entries, hexEntries } = this.#table;
    if (this.#viewed !== entries) this.#views.fill(undefined);
    this.#viewed = entries;
    const kept = this.#views[first % KEPT_VIEWS_MAX];
    if (kept?.first === first && kept.count === count) return kept;
    const from = first * ENTRY_BYTES;
    const to = from + count * ENTRY_BYTES;
    const views = {
      first,
      count,
      entries: entries.subarray(from, to),
      hexEntries: hexEntries.subarray(from, to),
    };
    this.#views[first % KEPT_VIEWS_MAX] = views;
    return views;
  }

  /** Writes the head of a body, and begins its attributes. @returns the offset after the head */
  #writeHead(timestampNs: TimeNs, mask: number): number {
    const view = this.#bodyView;
    if (mask === MASK_PRICE) {
      view.setUint16(SIMPLIFIED_TAXONOMY_AT, this.#taxonomyId);
      view.setBigUint64(SIMPLIFIED_TIME_AT, timestampNs);
      return SIMPLIFIED_HEAD_BYTES;
    }
    this.#attributes.begin(mask, timestampNs);
    view.setUint8(MAGIC_AT, LAYOUT_MAGIC);
    view.setUint8(VERSION_AT, LAYOUT_VERSION);
    view.setUint16(MASK_AT, mask);
    view.setUint16(VERSIONED_TAXONOMY_AT, this.#taxonomyId);
    view.setBigUint64(VERSIONED_TIME_AT, timestampNs);
    return VERSIONED_HEAD_BYTES;
  }

  /** Returns an asset's element of an `unsigned` frame, with a comma before it. */
  #unsignedElement(asset: AssetIndex, mask: number): string {
    const table = this.#table;
    const fields = mask === MASK_PRICE ? '' : this.#attributes.fieldsOf(asset);
    if (fields === '') return table.closedTexts[asset] || table.closedText(asset);
    return `${table.openTexts[asset] || table.openText(asset)}${fields}}`;
  }
}

/** Returns the part of an `unsigned` frame before its array. */
function unsignedHead(taxonomyId: number, timestampNs: TimeNs): string {
  return `${UNSIGNED_HEAD}${taxonomyId},"ts":${timestampNs},"a":`;
}

const COPIED_RUN_MIN = 3;

/** The number of runs of neighbours whose views an encoder keeps: 0.3 MB. */
const KEPT_VIEWS_MAX = 1_024;

/** Views of the encoded entries of assets that are neighbours in the table. */
interface EntryViews {
  readonly first: AssetIndex;
  readonly count: number;
  readonly entries: Uint8Array;
  readonly hexEntries: Uint16Array;
}

/** Returns the number of assets, from `start` on, that are neighbours in the table, at most `countMax`. Encodes the outdated ones. */
function encodedRun(
  table: PriceTable,
  assets: readonly AssetIndex[],
  start: number,
  countMax: number,
): number {
  const { stale } = table;
  const endMax = Math.min(start + countMax, assets.length);
  let end = start;
  do {
    const asset = assets[end]!;
    if (stale[asset] === 1) table.encode(asset);
    end++;
  } while (end < endMax && assets[end] === assets[end - 1]! + 1);
  return end - start;
}
