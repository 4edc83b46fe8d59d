import { strict as assert } from 'node:assert';

/** A message on its way to another thread. */
export interface RingMessage {
  readonly kind: number;
  readonly sequence: number;
  /** The bytes of the message, only valid until the next read. */
  readonly bytes: Uint8Array;
}

/** The size of a header: two unsigned 32-bit words (kind, length in bytes) and the sequence as a double; the bytes follow. */
const HEADER_BYTES = 16;
/** The alignment of messages: they start at its multiples, so the end of the ring never cuts a field of a header. */
const ALIGNMENT_BYTES = 8;
/**
 * The size of the field before the ring: the number of bytes that the reader has read since the start, an unsigned 32-bit number
 * that wraps.
 */
const POSITION_BYTES = 8;

/** Returns the memory that both ends of a ring share. @param ringBytes a power of two */
export function createRingMemory(ringBytes: number): SharedArrayBuffer {
  assert(Number.isInteger(Math.log2(ringBytes)) && ringBytes < 2 ** 31, 'a power of two below 2 GiB');
  return new SharedArrayBuffer(POSITION_BYTES + ringBytes);
}

/**
 * The writing end of a ring in shared memory that carries messages from one thread to one other. Another channel tells the reader
 * the number of messages, and makes their bytes visible to it.
 */
export class RingWriter {
  readonly #ring: Ring;
  /** The bytes written so far, counted like the reader's position. */
  #written: number;

  constructor(memory: SharedArrayBuffer) {
    this.#ring = new Ring(memory);
    this.#written = this.#ring.taken();
  }

  /** The bytes that the reader has not read yet. */
  get waiting(): number {
    return (this.#written - this.#ring.taken()) >>> 0;
  }

  /** Writes a message. @returns `false` when the reader is so far behind that the message does not fit. */
  write(kind: number, sequence: number, bytes: Uint8Array): boolean {
    const ring = this.#ring;
    const size = recordBytes(bytes.length);
    if (this.waiting + size > ring.bytes.length) return false;
    const at = this.#written & ring.mask;
    ring.view.setUint32(at, kind);
    ring.view.setUint32(at + 4, bytes.length);
    ring.view.setFloat64((at + 8) & ring.mask, sequence);
    const from = (at + HEADER_BYTES) & ring.mask;
    const first = Math.min(bytes.length, ring.bytes.length - from);
    ring.bytes.set(first === bytes.length ? bytes : bytes.subarray(0, first), from);
    if (first < bytes.length) ring.bytes.set(bytes.subarray(first), 0);
    this.#written = (this.#written + size) >>> 0;
    return true;
  }
}

/** The reading end. */
export class RingReader {
  readonly #ring: Ring;
  /** A copy of the message's bytes: native code need not know of shared memory. */
  #message = new Uint8Array(4096);
  #read: number;

  constructor(memory: SharedArrayBuffer) {
    this.#ring = new Ring(memory);
    this.#read = this.#ring.taken();
  }

  /** Reads the next message, which must exist. */
  read(): RingMessage {
    const ring = this.#ring;
    const at = this.#read & ring.mask;
    const kind = ring.view.getUint32(at);
    const length = ring.view.getUint32(at + 4);
    const sequence = ring.view.getFloat64((at + 8) & ring.mask);
    if (length > this.#message.length) this.#message = new Uint8Array(2 * length);
    const from = (at + HEADER_BYTES) & ring.mask;
    const first = Math.min(length, ring.bytes.length - from);
    this.#message.set(ring.bytes.subarray(from, from + first));
    if (first < length) this.#message.set(ring.bytes.subarray(0, length - first), first);
    this.#read = (this.#read + recordBytes(length)) >>> 0;
    ring.take(this.#read);
    return { kind, sequence, bytes: this.#message.subarray(0, length) };
  }
}

class Ring {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** The mask that turns a position into a place in the ring. */
  readonly mask: number;
  readonly #position: Uint32Array;

  constructor(memory: SharedArrayBuffer) {
    this.bytes = new Uint8Array(memory, POSITION_BYTES);
    this.view = new DataView(memory, POSITION_BYTES);
    this.mask = this.bytes.length - 1;
    this.#position = new Uint32Array(memory, 0, 1);
  }

  taken(): number {
    return Atomics.load(this.#position, 0);
  }

  take(position: number): void {
    Atomics.store(this.#position, 0, position);
  }
}

function recordBytes(messageBytes: number): number {
  return Math.ceil((HEADER_BYTES + messageBytes) / ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
}
