import { BLOCK_BYTES, openKeccakModule, ROOM_BYTES, STATE_AT } from './wasm/keccak_module.js';

/** The number of bytes in a Keccak-256 digest. */
export const KECCAK256_BYTES = 32;

// All callers on the thread share this memory, because nothing interrupts a hash.
const { memory, absorb } = openKeccakModule();

/** The memory for a message that {@link hashWritten} hashes. Every other hash overwrites this memory. */
export const keccakRoom: Buffer = Buffer.from(memory.buffer, 0, ROOM_BYTES);
export const keccakRoomView = new DataView(memory.buffer, 0, ROOM_BYTES);

/** The same memory as a Uint8Array, whose `fill` is faster than the `fill` of a Buffer. */
const roomBytes = new Uint8Array(memory.buffer, 0, ROOM_BYTES);
const digest: Buffer = Buffer.from(memory.buffer, STATE_AT, KECCAK256_BYTES);

/**
 * Hashes the first bytes of {@link keccakRoom}.
 * @param length the number of bytes, less than the length of {@link keccakRoom}
 * @returns the digest, which is valid until the next hash
 */
export function hashWritten(length: number): Buffer {
  absorbLast(length, 0);
  return digest;
}

/**
 * Returns the Keccak-256 digest that Ethereum uses. Its padding is the padding of the original submission, not of SHA3-256.
 * @returns 32 new bytes.
 */
export function keccak256(bytes: Uint8Array): Buffer {
  const fresh = Buffer.allocUnsafe(KECCAK256_BYTES);
  keccak256Into(bytes, fresh, 0);
  return fresh;
}

/** Writes the Keccak-256 of `bytes` into `out` at `offset`. `bytes` may be a part of `out`. */
export function keccak256Into(bytes: Uint8Array, out: Uint8Array, offset: number): void {
  let at = 0;
  for (; bytes.length - at >= ROOM_BYTES; at += ROOM_BYTES) {
    keccakRoom.set(bytes.subarray(at, at + ROOM_BYTES));
    absorb(ROOM_BYTES / BLOCK_BYTES, at > 0 ? 1 : 0);
  }
  keccakRoom.set(at === 0 ? bytes : bytes.subarray(at));
  absorbLast(bytes.length - at, at > 0 ? 1 : 0);
  out.set(digest, offset);
}

/** Pads the message after its last byte, and absorbs the message. */
function absorbLast(length: number, continues: 0 | 1): void {
  const blocks = Math.floor(length / BLOCK_BYTES) + 1;
  const end = blocks * BLOCK_BYTES;
  roomBytes.fill(0, length, end);
  keccakRoom[length] = 0x01;
  keccakRoom[end - 1]! |= 0x80;
  absorb(blocks, continues);
}
