import { crc32 } from 'node:zlib';

/** The version of every record in the data folder. The service refuses a folder with another version. */
export const FORMAT_VERSION = 2;

/**
 * The size of an envelope: crc32 (4 bytes, little-endian) and the version (4 bytes, little-endian). The size is a multiple
 * of 8, so that doubles stay aligned.
 */
const ENVELOPE_BYTES = 8;

/** The error for a stored record that differs from the written record. */
export class DamagedRecord extends Error {
  override readonly name = 'DamagedRecord';
}

/** Returns the size of a record with its envelope. */
export function wrappedBytes(payload: Uint8Array): number {
  return ENVELOPE_BYTES + payload.length;
}

/**
 * Puts a record into its envelope. The checksum covers the record, the version and `keyText`. So it also detects a record stored under
 * another record's key.
 * @param wrapped the memory for the envelope and the record, of {@link wrappedBytes}
 */
export function wrapRecord(keyText: string, payload: Uint8Array, wrapped: Buffer): void {
  wrapped.writeUInt32LE(FORMAT_VERSION, 4);
  wrapped.set(payload, ENVELOPE_BYTES);
  wrapped.writeUInt32LE(checksum(keyText, wrapped), 0);
}

/**
 * Returns the record in an envelope. Its doubles are aligned for typed arrays.
 * @throws DamagedRecord when the checksum is wrong or the version is different
 */
export function unwrapRecord(keyText: string, wrapped: Buffer): Uint8Array {
  if (wrapped.length < ENVELOPE_BYTES || wrapped.readUInt32LE(0) !== checksum(keyText, wrapped))
    throw new DamagedRecord(
      `the stored record ${keyText} is damaged: its checksum does not fit; the disk may be failing`,
    );
  const version = wrapped.readUInt32LE(4);
  if (version !== FORMAT_VERSION)
    throw new DamagedRecord(`the stored record ${keyText} has version ${version}, not ${FORMAT_VERSION}`);
  const payload = wrapped.subarray(ENVELOPE_BYTES);
  return payload.byteOffset % 8 === 0 ? payload : new Uint8Array(payload);
}

function checksum(keyText: string, wrapped: Buffer): number {
  return crc32(wrapped.subarray(4), crc32(keyText));
}
