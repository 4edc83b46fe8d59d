/** The smallest length of a match, and the largest distance to it in a copy with two bytes for the distance. */
const MATCH_MIN = 4;
const DISTANCE_MAX = 0xffff;
/** The bytes at the end of the input in which no match begins. */
const MARGIN = 15;

const TABLE_BITS_MAX = 14;
/** The latest place of each hash of four bytes. All calls on the thread share this memory. */
const PLACES = new Uint32Array(1 << TABLE_BITS_MAX);

/**
 * Compresses bytes in the Snappy format. The result is the same as from `snappyCompress` of hyparquet-writer, which takes twice as long,
 * because that function makes an array for each literal.
 */
export function snappy(input: Uint8Array): Uint8Array {
  const out = new SnappyBytes(input);
  out.literal(compress(input, out), input.length);
  return out.all;
}

/** @returns the place after the last copy. The rest of the input is a literal */
function compress(input: Uint8Array, out: SnappyBytes): number {
  const bits = Math.min(TABLE_BITS_MAX, 31 - Math.clz32(input.length | 2));
  const shift = 32 - bits;
  const places = PLACES.subarray(0, 1 << bits).fill(0);
  const limit = input.length - MARGIN;
  let emitted = 0;
  for (let at = 1; at <= limit; at++) {
    // Steps grow while nothing matches, so that bytes without matches take little time.
    let match = 0;
    let four = fourAt(input, at);
    for (let tries = 32; ; tries++) {
      const hash = hashOf(four, shift);
      match = places[hash]!;
      const next = at + (tries >>> 5);
      places[hash] = at;
      if (at - match <= DISTANCE_MAX && fourAt(input, match) === four) break;
      at = next;
      if (at > limit) return emitted;
      four = fourAt(input, at);
    }
    out.literal(emitted, at);
    do {
      const start = at;
      const distance = at - match;
      at += MATCH_MIN;
      while (at < input.length && input[at] === input[at - distance]) at++;
      out.copy(distance, at - start);
      emitted = at;
      if (at >= limit) return emitted;
      places[hashOf(fourAt(input, at - 1), shift)] = at - 1;
      four = fourAt(input, at);
      const hash = hashOf(four, shift);
      match = places[hash]!;
      places[hash] = at;
    } while (at - match <= DISTANCE_MAX && fourAt(input, match) === four);
  }
  return emitted;
}

function fourAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

function hashOf(four: number, shift: number): number {
  return Math.imul(four, 0x1e35a7bd) >>> shift;
}

/** The largest length of a literal without additional bytes for its length. */
const SHORT_LITERAL_MAX = 60;
/** The largest length of a copy. */
const COPY_MAX = 64;

/** The compressed bytes: the length of the input, then literals and copies of earlier bytes. */
class SnappyBytes {
  readonly #input: Uint8Array;
  readonly #bytes: Uint8Array;
  #length = 0;

  constructor(input: Uint8Array) {
    this.#input = input;
    // The format's largest size of incompressible bytes.
    this.#bytes = Buffer.allocUnsafe(32 + input.length + Math.floor(input.length / 6));
    let rest = input.length;
    for (; rest >= 0x80; rest >>>= 7) this.#bytes[this.#length++] = rest | 0x80;
    this.#bytes[this.#length++] = rest;
  }

  get all(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  literal(start: number, end: number): void {
    const bytes = this.#bytes;
    const input = this.#input;
    if (start === end) return;
    const last = end - start - 1;
    let to = this.#length;
    if (last < SHORT_LITERAL_MAX) bytes[to++] = last << 2;
    else {
      const lengthBytes = 4 - (Math.clz32(last) >> 3);
      bytes[to++] = (SHORT_LITERAL_MAX - 1 + lengthBytes) << 2;
      for (let i = 0; i < lengthBytes; i++) bytes[to++] = last >>> (8 * i);
    }
    if (last < 256) for (let at = start; at < end; at++) bytes[to++] = input[at]!;
    else {
      bytes.set(input.subarray(start, end), to);
      to += end - start;
    }
    this.#length = to;
  }

  copy(distance: number, length: number): void {
    let rest = length;
    // The last copy has at least four bytes.
    for (; rest >= COPY_MAX + MATCH_MIN; rest -= COPY_MAX) this.#copyPart(distance, COPY_MAX);
    if (rest > COPY_MAX) {
      this.#copyPart(distance, COPY_MAX - MATCH_MIN);
      rest -= COPY_MAX - MATCH_MIN;
    }
    this.#copyPart(distance, rest);
  }

  #copyPart(distance: number, length: number): void {
    const bytes = this.#bytes;
    if (length < 12 && distance < 0x800) {
      bytes[this.#length++] = 1 | ((length - MATCH_MIN) << 2) | ((distance >>> 8) << 5);
      bytes[this.#length++] = distance;
      return;
    }
    bytes[this.#length++] = 2 | ((length - 1) << 2);
    bytes[this.#length++] = distance;
    bytes[this.#length++] = distance >>> 8;
  }
}
