import { SIGNED_PRICES_TYPE } from '../wire/publish_message.js';
import type { RawUpdate, ReadMessage } from './message.js';
import { type MessageLimits, readTraceId } from './message_limits.js';
import { NO_REASONS } from './rejections.js';
import { MESSAGE_SHAPE, PLACE_COUNT, PLACES, type Shape, UPDATE_SHAPE } from './usual_shape.js';

/** The longest text that the scanner reads. This is the default of `limits.publish_message_bytes`. */
const LENGTH_MAX = 1024 * 1024;
/**
 * The longest text whose strings may contain a brace, a bracket or a comma, or may begin with a colon or a space. The general reader counts
 * these characters, but its limits do not apply to such short texts.
 */
const ODD_LENGTH_MAX = 4_000;

/**
 * Reads a publish message of the usual shape in a single pass over its bytes: ASCII text, in which each key is known and stands at
 * most once in its object, without an escape and without `metadata`. The order of keys and the white space do not matter.
 *
 * The long strings of the updates are slices of `text`, so they keep the whole text in memory. The trace ID and the symbols are
 * copies, because the service keeps these strings until the message is answered.
 * @returns the message that the general reader returns for the text; `undefined` when the text has another shape or may be invalid
 */
export function readUsualMessage(text: string, limits: MessageLimits): ReadMessage | undefined {
  const { length } = text;
  if (length > LENGTH_MAX) return undefined;
  if (length + SPARE_BYTES > bytes.length) bytes = Buffer.alloc(2 * (length + SPARE_BYTES));
  // Each character other than ASCII has more bytes than UTF-16 code units.
  if (bytes.write(text) !== length) return undefined;
  bytes[length] = NUL;
  return new UsualReader(text, bytes, limits).read();
}

/** The bytes after a text: the NUL that ends the loops, and room for the bytes that show that a character is not ASCII. */
const SPARE_BYTES = 8;
let bytes = Buffer.alloc(16 * 1024);

const NUL = 0;
const QUOTE = 0x22;
const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** The meanings of a byte in a string. */
const PLAIN = 0;
const END = 1;
const ODD = 2;
/** The start of an escape, or a control character, which JSON forbids in strings. */
const REFUSED = 3;
const MEANINGS = new Uint8Array(0x100).fill(REFUSED, 0, 0x20);
for (const character of ',{[') MEANINGS[character.charCodeAt(0)] = ODD;
MEANINGS[QUOTE] = END;
MEANINGS['\\'.charCodeAt(0)] = REFUSED;

/** The result of a method that found another shape. */
const OTHER = -1;

/** An object that reads a single message. Each method starts at a place in the text and returns the place after the read part. */
class UsualReader {
  readonly #text: string;
  readonly #bytes: Uint8Array;
  readonly #limits: MessageLimits;
  readonly #updates: RawUpdate[] = [];
  readonly #values: (string | undefined)[] = new Array(PLACE_COUNT).fill(undefined);
  #isOdd = false;

  /** @param bytes the bytes of the text and a NUL */
  constructor(text: string, bytes: Uint8Array, limits: MessageLimits) {
    this.#text = text;
    this.#bytes = bytes;
    this.#limits = limits;
  }

  read(): ReadMessage | undefined {
    const { length } = this.#text;
    const start = skipSpace(this.#bytes, 0);
    if (this.#bytes[start] !== OPEN) return undefined;
    const end = this.#object(start, MESSAGE_SHAPE);
    if (end === OTHER || skipSpace(this.#bytes, end) !== length) return undefined;
    if (this.#isOdd && length > ODD_LENGTH_MAX) return undefined;
    if (this.#values[PLACES.type] !== SIGNED_PRICES_TYPE) return undefined;
    const traceId = this.#values[PLACES.traceId];
    const { trace, fault } = readTraceId(traceId && copyOf(traceId), this.#limits.traceIdLengthMax);
    const read = { ok: true, traceId: trace, updates: this.#updates, malformed: NO_REASONS, length } as const;
    return fault === undefined ? read : { ...read, fault };
  }

  #object(start: number, { keys, kinds, places, required }: Shape): number {
    const bytes = this.#bytes;
    let at = start;
    let code = COMMA;
    let seen = 0;
    let key = 0;
    while (code === COMMA) {
      at = skipSpace(bytes, at + 1);
      if (bytes[at] !== QUOTE) return OTHER;
      // Most publishers write the keys in the documented order, so the next key is tried first.
      const first = key;
      while (!startsWith(bytes, at + 1, keys[key]!)) {
        key = key + 1 === keys.length ? 0 : key + 1;
        if (key === first) return OTHER;
      }
      if ((seen & (1 << key)) !== 0) return OTHER;
      seen |= 1 << key;
      at = valueAt(bytes, at + 1 + keys[key]!.length);
      if (at === OTHER) return OTHER;
      const kind = kinds[key]!;
      if (kind === 'text') at = this.#string(at, places[key]!);
      else if (kind === 'timestamp') at = this.#timestamp(at);
      else if (bytes[at] !== OPEN) return OTHER;
      else at = kind === 'updates' ? this.#readUpdates(at) : this.#object(at, kind);
      if (at === OTHER) return OTHER;
      at = skipSpace(bytes, at);
      code = bytes[at]!;
      key = key + 1 === keys.length ? 0 : key + 1;
    }
    return code === CLOSE && (seen & required) === required ? at + 1 : OTHER;
  }

  #readUpdates(start: number): number {
    const bytes = this.#bytes;
    const updates = this.#updates;
    const { updatesMax } = this.#limits;
    let symbols: Set<string> | undefined;
    let at = start;
    let code = COMMA;
    while (code === COMMA) {
      at = skipSpace(bytes, at + 1);
      if (bytes[at] !== QUOTE || updates.length >= updatesMax) return OTHER;
      const end = this.#stringEnd(at + 1);
      if (end === OTHER) return OTHER;
      const symbol = copyOf(this.#text.slice(at + 1, end));
      // Objects list integers before their other keys, and handle this name specially.
      if ((isDigit(bytes[at + 1]!) && INTEGER.test(symbol)) || symbol === '__proto__') return OTHER;
      if (updates.length > 0) {
        symbols ??= new Set([updates[0]!.symbol]);
        if (symbols.size === symbols.add(symbol).size) return OTHER;
      }
      at = valueAt(bytes, end + 1);
      if (at === OTHER || bytes[at] !== OPEN) return OTHER;
      this.#values[PLACES.v] = undefined;
      at = this.#object(at, UPDATE_SHAPE);
      if (at === OTHER) return OTHER;
      updates.push(this.#updateOf(symbol));
      at = skipSpace(bytes, at);
      code = bytes[at]!;
    }
    return code === CLOSE ? at + 1 : OTHER;
  }

  #updateOf(symbol: string): RawUpdate {
    const values = this.#values;
    return {
      symbol,
      assetId: values[PLACES.assetId]!,
      publisherKey: values[PLACES.publisherKey]!,
      externalAssetId: values[PLACES.externalAssetId]!,
      signatureType: values[PLACES.signatureType]!,
      price: values[PLACES.price]!,
      timestamp: values[PLACES.timestamp]!,
      r: values[PLACES.r]!,
      s: values[PLACES.s]!,
      v: values[PLACES.v],
      msgHash: values[PLACES.msgHash]!,
      metadata: undefined,
    };
  }

  #string(start: number, place: number): number {
    if (this.#bytes[start] !== QUOTE) return OTHER;
    const end = this.#stringEnd(start + 1);
    if (end === OTHER) return OTHER;
    if (place !== PLACES.unused) this.#values[place] = this.#text.slice(start + 1, end);
    return end + 1;
  }

  /** Reads a string or an integer without a sign. */
  #timestamp(start: number): number {
    const bytes = this.#bytes;
    if (bytes[start] === QUOTE) return this.#string(start, PLACES.timestamp);
    let at = start;
    while (isDigit(bytes[at]!)) at++;
    if (at === start || (at > start + 1 && bytes[start] === ZERO)) return OTHER;
    this.#values[PLACES.timestamp] = this.#text.slice(start, at);
    return at;
  }

  /** Returns the place of the quotation mark that ends the string. */
  #stringEnd(start: number): number {
    const bytes = this.#bytes;
    const first = bytes[start]!;
    if (first === COLON || first === 0x20) this.#isOdd = true;
    for (let at = start; ; at++) {
      const meaning = MEANINGS[bytes[at]!]!;
      if (meaning === PLAIN) continue;
      if (meaning === END) return at;
      if (meaning === REFUSED) return OTHER;
      this.#isOdd = true;
    }
  }
}

const INTEGER = /^\d+$/;

/** Returns the place of the value whose key ends at `end`. */
function valueAt(bytes: Uint8Array, end: number): number {
  const colon = skipSpace(bytes, end);
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : OTHER;
}

function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  for (;;) {
    const code = bytes[at];
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at++;
  }
}

function startsWith(bytes: Uint8Array, at: number, key: Uint8Array): boolean {
  for (let i = 0; i < key.length; i++) if (bytes[at + i] !== key[i]) return false;
  return true;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** The length from which V8 makes a slice of a text; V8 copies shorter parts. */
const SLICE_LENGTH_MIN = 13;

/** Returns the same string as a copy that does not keep the whole text in memory. */
function copyOf(part: string): string {
  return part.length < SLICE_LENGTH_MIN ? part : ` ${part}`.slice(1);
}
