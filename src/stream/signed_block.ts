import { PAYLOAD_SIGNATURE } from '../wire/payload_fields.js';
import { MESSAGE_TYPES } from '../wire/stream.js';
import { HEX_OF_BYTE } from './price_table.js';

const [, SIGNED] = MESSAGE_TYPES;
// Head, hex and tail have an even number of bytes, so the block writes two bytes at a time.
const HEAD = pairsOf(`{"type":"${SIGNED}","p":"0x`);
const TAIL = pairsOf('"}');
const BODY_AT = HEAD.length + PAYLOAD_SIGNATURE.bytes;

/**
 * A block of `signed_ecdsa` frames in one piece of memory, complete except for their signatures. A frame is JSON, or the bytes of its
 * payload.
 */
export class SignedBlock {
  /** The frames. Each element has two bytes, such as the two digits of a byte. {@link add} may replace this array by a larger array. */
  pairs = new Uint16Array(0);
  /** The number of frames. The arrays by frame keep their length, because emptying and filling them again takes 0.2 µs a frame. */
  #count = 0;
  /** The start offset of each frame in {@link pairs}. */
  readonly #starts: number[] = [];
  /** The length of each frame in bytes. */
  readonly #lengths: number[] = [];
  /** The flag true for each binary frame. */
  readonly #isBinary: boolean[] = [];
  /** The offset in {@link pairs} after the last frame. */
  #end = 0;
  /** The bytes of {@link pairs}. */
  #bytes = new Uint8Array(0);
  /** The finished frames. A block is filled with frames of the same lengths again and again, so the views are used again. */
  #frames: Uint8Array[] = [];

  /** Adds a JSON frame without signature and body. @returns the offset in {@link pairs} of the body's digits */
  add(bodyBytes: number): number {
    const start = this.#addFrame(2 * (BODY_AT + bodyBytes + TAIL.length), false);
    const bodyAt = start + BODY_AT;
    const tailAt = bodyAt + bodyBytes;
    const { pairs } = this;
    for (let i = 0; i < HEAD.length; i++) pairs[start + i] = HEAD[i]!;
    for (let i = 0; i < TAIL.length; i++) pairs[tailAt + i] = TAIL[i]!;
    return bodyAt;
  }

  /** Adds a binary frame without signature. @param body the bytes, which are copied */
  addBinary(body: Uint8Array): void {
    const start = this.#addFrame(PAYLOAD_SIGNATURE.bytes + body.length, true);
    this.#bytes.set(body, 2 * start + PAYLOAD_SIGNATURE.bytes);
  }

  /**
   * Writes the signature of a frame.
   * @param signatures bytes that contain the signature in payload form
   * @param from the offset of the signature in these bytes
   * @returns the finished frame, a view that is valid until the next call of {@link add} or {@link clear}
   */
  sign(frame: number, signatures: Uint8Array, from: number): Uint8Array {
    const { pairs } = this;
    const start = this.#starts[frame]!;
    const at = 2 * start;
    if (this.#isBinary[frame]) {
      for (let i = 0; i < PAYLOAD_SIGNATURE.bytes; i++) this.#bytes[at + i] = signatures[from + i]!;
    } else {
      const signatureAt = start + HEAD.length;
      for (let i = 0; i < PAYLOAD_SIGNATURE.bytes; i++)
        pairs[signatureAt + i] = HEX_OF_BYTE[signatures[from + i]!]!;
    }
    const length = this.#lengths[frame]!;
    const last = this.#frames[frame];
    if (last !== undefined && last.byteOffset === at && last.length === length) return last;
    const view = new Uint8Array(pairs.buffer, at, length);
    this.#frames[frame] = view;
    return view;
  }

  /** Removes all frames. */
  clear(): void {
    this.#count = 0;
    this.#end = 0;
    if (this.pairs.byteLength <= KEPT_BYTES_MAX) return;
    this.#useMemory(new Uint16Array(0));
  }

  /** Reserves memory for a frame. @returns its offset in {@link pairs} */
  #addFrame(bytes: number, isBinary: boolean): number {
    const start = this.#end;
    const frame = this.#count++;
    // The next frame begins at an even offset in bytes.
    const end = start + Math.ceil(bytes / 2);
    if (end > this.pairs.length) this.#grow(end);
    this.#starts[frame] = start;
    this.#lengths[frame] = bytes;
    this.#isBinary[frame] = isBinary;
    this.#end = end;
    return start;
  }

  #grow(needed: number): void {
    const larger = new Uint16Array(Math.max(needed, 2 * this.pairs.length));
    larger.set(this.pairs);
    this.#useMemory(larger);
  }

  #useMemory(pairs: Uint16Array<ArrayBuffer>): void {
    this.pairs = pairs;
    this.#bytes = new Uint8Array(pairs.buffer);
    // The views are of the old memory, and would keep it alive.
    this.#frames = [];
  }
}

/** The size of the memory that a block keeps for its next frames. */
const KEPT_BYTES_MAX = 256 * 1024;

function pairsOf(text: string): Uint16Array {
  return new Uint16Array(Uint8Array.from(Buffer.from(text, 'latin1')).buffer);
}
