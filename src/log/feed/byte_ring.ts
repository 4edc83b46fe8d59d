import { strict as assert } from 'node:assert';

/** A message to another thread. */
export interface RingMessage {
  readonly kind: number;
  readonly sequence: number;
  /** The bytes of the message, valid until the next read. */
  readonly bytes: Uint8Array;
}

/**
 * The size of a header: two unsigned 32-bit words (the kind, and the length in bytes) and the sequence as a double. The bytes
 * follow the header.
 */
const HEADER_BYTES = 16;
/**
 * The alignment of messages. Messages start at multiples of this number, so the end of the ring never divides a field of a
 * header.
 */
const ALIGNMENT_BYTES = 8;
/**
 * The size of the field before the ring. The field is an unsigned 32-bit number that wraps: the number of bytes that the reader has
 * read since the start.
 */
const POSITION_BYTES = 8;

/**
 * Returns the memory that the writer and the reader of a ring share.
 * @param ringBytes a power of two
 */
export function createRingMemory(ringBytes: number): SharedArrayBuffer {
  assert(Number.isInteger(Math.log2(ringBytes)) && ringBytes < 2 ** 31, 'a power of two below 2 GiB');
  return new SharedArrayBuffer(POSITION_BYTES + ringBytes);
}

/**
 * The writer of a ring in shared memory. A ring carries messages from one thread to one other thread. Another channel sends the
 * number of messages to the reader, and makes their bytes visible to the reader.
 */
export class RingWriter {
  readonly #ring: Ring;
  /** The number of written bytes, counted like the reader's position. */
  #written: number;

  constructor(memory: SharedArrayBuffer) {
    this.#ring = new Ring(memory);
    this.#written = this.#ring.taken();
  }

  /** The number of bytes that the reader has not read yet. */
  get waiting(): number {
    return (this.#written - this.#ring.taken()) >>> 0;
  }

  /**
   * Writes a message.
   * @returns `false` when the ring has too little free space, because the reader is too far behind.
   */
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

/** The reader of a ring in shared memory. */
export class RingReader {
  readonly #ring: Ring;
  /** A copy of the message's bytes, because native code may not support shared memory. */
  #message = new Uint8Array(4096);
  #read: number;

  constructor(memory: SharedArrayBuffer) {
    this.#ring = new Ring(memory);
    this.#read = this.#ring.taken();
  }

  /** Reads the next message. The ring must contain a message. */
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
  /** The mask that converts a position to a place in the ring. */
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
