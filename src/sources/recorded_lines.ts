import type { TimeNs } from '../model/time.js';
import type { RecordedCall } from './recording.js';

const LINE_FEED = 0x0a;
const CLOSING_BRACE = 0x7d;
/** The largest number of bytes of a character of a JavaScript string. */
const CHARACTER_BYTES_MAX = 3;
/** The text of a line with a frame, around its time, its connection and its frame. */
const [BEFORE_TIME, BEFORE_CONNECTION, BEFORE_FRAME] = ['{"at":"', '","read":', ',"frame":'] as const;
/** The largest number of bytes before a frame, with the digits of a time and of a connection. */
const HEAD_BYTES_MAX = 96;

/** Lines of a recording, as bytes. A long frame is copied once; a text of the whole line would be copied twice more. */
export class RecordedLines {
  #array: Buffer;
  /** The number of bytes of the lines. */
  length = 0;

  /** @param bytes the size for which memory is allocated at once; the memory grows for more lines */
  constructor(bytes: number) {
    this.#array = Buffer.allocUnsafeSlow(bytes);
  }

  /** The bytes of all lines, valid until the next call of another method. */
  get all(): Uint8Array {
    return this.#array.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  /**
   * Adds the line of a call. A frame that looks like JSON is included unchanged, because escaping its quotes would cost more than reading
   * the frame. Any other frame becomes a JSON string.
   */
  add(atNs: TimeNs, call: RecordedCall): void {
    if ('read' in call && isOneLine(call.frame)) this.#addFrame(atNs, call.read, call.frame);
    else this.#addCall(atNs, call);
  }

  /** Adds the few characters of the head one by one: each call of a native method takes as long as 100 characters. */
  #addFrame(atNs: TimeNs, connection: number, frame: string): void {
    this.#reserve(HEAD_BYTES_MAX + CHARACTER_BYTES_MAX * frame.length);
    const array = this.#array;
    let at = writeAscii(array, this.length, BEFORE_TIME);
    at = writeAscii(array, at, String(atNs));
    at = writeAscii(array, at, BEFORE_CONNECTION);
    at = writeAscii(array, at, String(connection));
    at = writeAscii(array, at, BEFORE_FRAME);
    at += array.write(frame, at);
    array[at] = CLOSING_BRACE;
    array[at + 1] = LINE_FEED;
    this.length = at + 2;
  }

  #addCall(atNs: TimeNs, call: RecordedCall): void {
    const json = JSON.stringify({ at: String(atNs), ...call });
    const line = json.replace(SEPARATORS, (one) => `\\u${one.charCodeAt(0).toString(16)}`);
    this.#reserve(CHARACTER_BYTES_MAX * line.length + 1);
    this.length += this.#array.write(line, this.length);
    this.#array[this.length++] = LINE_FEED;
  }

  #reserve(bytes: number): void {
    const bytesMax = this.length + bytes;
    if (bytesMax <= this.#array.length) return;
    const larger = Buffer.allocUnsafeSlow(bytesMax);
    this.#array.copy(larger, 0, 0, this.length);
    this.#array = larger;
  }
}

function writeAscii(array: Uint8Array, start: number, text: string): number {
  for (let i = 0; i < text.length; i++) array[start + i] = text.charCodeAt(i);
  return start + text.length;
}

/**
 * Returns whether a frame looks like JSON and has no character that ends a line. Four searches take a fiftieth of the time of a pattern that
 * looks at each character.
 */
function isOneLine(frame: string): boolean {
  const isJson = frame.startsWith('{') || frame.startsWith('[');
  return isJson && !LINE_ENDS.some((end) => frame.includes(end));
}

const LINE_ENDS = ['\n', '\r', '\u2028', '\u2029'] as const;
/** Characters that end a line but are not escaped in JSON. */
const SEPARATORS = /[\u2028\u2029]/g;
