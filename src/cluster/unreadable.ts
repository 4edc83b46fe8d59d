import { ByteBuffer } from 'flatbuffers';
import type { z } from 'zod';

/** Thrown when bytes are not a message of the expected kind, or when this version cannot read the message. */
export class UnreadableMessage extends Error {
  override readonly name = 'UnreadableMessage';
}

/**
 * Reads a FlatBuffers message from another machine with a generated reader. Generated readers trust every offset and length in the message. If
 * one of them points outside of the message, they throw or return a field that {@link fieldInside} refuses.
 * @throws UnreadableMessage for all bytes that `read` cannot read
 */
export function readMessage<T>(kind: string, bytes: Uint8Array, read: (buffer: ByteBuffer) => T): T {
  return readable(kind, () => read(new ByteBuffer(bytes)));
}

/**
 * Calls `read`, which reads a message from another machine.
 * @throws UnreadableMessage for every error of `read`
 */
export function readable<T>(kind: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableMessage) throw error;
    throw new UnreadableMessage(`a ${kind} is damaged: ${(error as Error).message}`);
  }
}

/**
 * Returns a field of bytes without a copy; an empty array when the message does not have the field.
 * @throws UnreadableMessage when the field is not inside the message
 */
export function fieldInside(message: ByteBuffer, field: Uint8Array | null): Uint8Array {
  if (field === null) return new Uint8Array(0);
  const { byteOffset, length } = message.bytes();
  if (field.byteOffset < byteOffset || field.byteOffset + field.length > byteOffset + length)
    throw new UnreadableMessage('a field ends outside of its message');
  return field;
}

/**
 * Returns the stated length of a list in a message.
 * @param bytesEach the smallest size of an element
 * @throws UnreadableMessage when the message is too short for that many elements
 */
export function countInside(message: ByteBuffer, count: number, bytesEach: number): number {
  if (count < 0 || count * bytesEach > message.capacity())
    throw new UnreadableMessage('a list ends outside of its message');
  return count;
}

/**
 * Converts a 64-bit number of a message to a double.
 * @throws UnreadableMessage when the double is not exact
 */
export function exactNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new UnreadableMessage(`${value} is out of range`);
  return Number(value);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a JSON message from another machine. Deep nesting is harmless, because `JSON.parse` does not recurse. The schema copies only the
 * fields that it names, and ignores `__proto__` like any unknown field.
 * @param schema the schema of objects that ignore unknown fields, with a limit on every text and list
 * @param bytesMax longer messages are not parsed
 * @returns `undefined` for all bytes that do not match
 */
export function readJson<T>(schema: z.ZodType<T>, bytes: Uint8Array, bytesMax: number): T | undefined {
  return bytes.length > bytesMax ? undefined : schema.safeParse(parseJson(bytes)).data;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(UTF8.decode(bytes));
  } catch {
    return undefined;
  }
}
