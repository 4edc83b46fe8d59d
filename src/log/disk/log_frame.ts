import { promisify } from 'node:util';
import { crc32, deflateRaw, inflateRawSync } from 'node:zlib';

const deflate = promisify(deflateRaw);

/** The bytes at the start of each frame: magic, size, size of the text, CRC-32. */
export const FRAME_HEAD_BYTES = 16;
/** The largest size of a frame's text. Readers hold a whole frame in memory. */
export const FRAME_TEXT_BYTES_MAX = 16 * 1024 * 1024;
const MAGIC = Buffer.from('TSLF');
const IS_DEFLATED = 0x8000_0000;
const HAS_MORE = 0x4000_0000;
const SIZE_MASK = HAS_MORE - 1;
/** The size of a text from which the text is deflated. */
const DEFLATED_BYTES_MIN = 4_096;
/** Level 1 takes a third of the time of the default level and leaves a tenth more bytes. */
const LEVEL = 1;

/** A frame in the bytes of a file. */
/** The place of a frame in its segment. */
export interface FramePlace {
  /** The position of the frame's head. */
  readonly at: number;
  /** The position after the frame. */
  readonly end: number;
}

export interface FoundFrame extends FramePlace {
  /** True when the next frame belongs to the same commit. */
  readonly hasMore: boolean;
}

/**
 * Encodes the lines of a frame. Lines contain no line break.
 *
 *     magic "TSLF" (4) | size of the body, and flags (uint32) | size of the text (uint32) | CRC-32 (uint32) | body
 *
 * Numbers are little-endian. Of the flags, bit 31 says that the body is deflated, and bit 30 that the next frame belongs to the same
 * commit. The checksum covers the sizes and the body. The text has a line break between two lines.
 * @param hasMore true when another frame of the same commit follows
 */
export async function encodeFrame(lines: readonly string[], hasMore = false): Promise<Buffer> {
  const text = Buffer.from(lines.join('\n'));
  if (text.length > FRAME_TEXT_BYTES_MAX) throw new RangeError('the lines are too long for a frame');
  const isDeflated = text.length >= DEFLATED_BYTES_MIN;
  const body = isDeflated ? await deflate(text, { level: LEVEL }) : text;
  const frame = Buffer.allocUnsafe(FRAME_HEAD_BYTES + body.length);
  frame.set(MAGIC);
  frame.writeUInt32LE((body.length | (isDeflated ? IS_DEFLATED : 0) | (hasMore ? HAS_MORE : 0)) >>> 0, 4);
  frame.writeUInt32LE(text.length, 8);
  frame.set(body, FRAME_HEAD_BYTES);
  frame.writeUInt32LE(frameChecksum(frame), 12);
  return frame;
}

/**
 * Finds the frame at a position.
 * @returns `undefined` if the bytes there are not a whole frame
 */
export function frameAt(bytes: Buffer, at: number): FoundFrame | undefined {
  const start = at + FRAME_HEAD_BYTES;
  if (start > bytes.length || MAGIC.compare(bytes, at, at + MAGIC.length) !== 0) return undefined;
  const end = start + bodyBytes(bytes, at);
  if (end > bytes.length || bytes.readUInt32LE(at + 12) !== frameChecksum(bytes.subarray(at, end)))
    return undefined;
  return { at, end, hasMore: (bytes.readUInt32LE(at + 4) & HAS_MORE) !== 0 };
}

/** Finds the first whole frame from a position on. */
export function nextFrame(bytes: Buffer, from: number): FoundFrame | undefined {
  for (let at = bytes.indexOf(MAGIC, from); at >= 0; at = bytes.indexOf(MAGIC, at + 1)) {
    const found = frameAt(bytes, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the lines of a frame that {@link frameAt} found. */
export function linesOf(bytes: Buffer, { at, end }: FramePlace): string[] {
  const body = bytes.subarray(at + FRAME_HEAD_BYTES, end);
  const isDeflated = (bytes.readUInt32LE(at + 4) & IS_DEFLATED) !== 0;
  const maxOutputLength = Math.max(1, bytes.readUInt32LE(at + 8));
  return (isDeflated ? inflateRawSync(body, { maxOutputLength }) : body).toString().split('\n');
}

function bodyBytes(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at + 4) & SIZE_MASK;
}

function frameChecksum(frame: Buffer): number {
  return crc32(frame.subarray(FRAME_HEAD_BYTES), crc32(frame.subarray(MAGIC.length, 12)));
}
