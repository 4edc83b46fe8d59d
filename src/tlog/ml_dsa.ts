import { utf8Bytes } from './log_text.js';
import { TlogError } from './tlog_error.js';
import { parseCheckpoint } from './tree_checkpoint.js';
import type { VerifierKey } from './verifier_key.js';

// Cosignatures by ML-DSA-44: C2SP tlog-cosignature. Only programs on Node verify them.

const PREFIX = 'subtree/v1\n\0';
const TIME_BYTES = 8;
const SIGNATURE_BYTES = 2_420;
const NAME_BYTES_MAX = 255;

/**
 * Verifies a cosignature by an ML-DSA-44 key. It covers the name of the witness, and no extension lines. Loads the implementation at the
 * first use, because few logs need it.
 * @param blob the time and the signature
 * @returns the time of the cosignature in UNIX seconds
 * @throws TlogError when the cosignature is invalid, or the text is no checkpoint
 */
export async function verifyMlDsa44(
  { name, publicKey }: VerifierKey,
  text: string,
  blob: Uint8Array,
): Promise<bigint> {
  if (blob.length === TIME_BYTES + SIGNATURE_BYTES) {
    const timeS = new DataView(blob.buffer, blob.byteOffset).getBigUint64(0);
    const message = cosignedBytes(name, text, timeS);
    const { ml_dsa44 } = await import('@noble/post-quantum/ml-dsa.js');
    if (ml_dsa44.verify(blob.subarray(TIME_BYTES), message, publicKey)) return timeS;
  }
  throw new TlogError(`the signature of ${name} does not verify`);
}

function cosignedBytes(name: string, text: string, timeS: bigint): Uint8Array {
  const { origin, size, root } = parseCheckpoint(text);
  const tree = [uint64(0n), uint64(size), root];
  return Buffer.concat([utf8Bytes(PREFIX), withLength(name), uint64(timeS), withLength(origin), ...tree]);
}

function uint64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(TIME_BYTES);
  bytes.writeBigUInt64BE(value);
  return bytes;
}

/** Returns the length of a name in a byte, and the name. */
function withLength(name: string): Uint8Array {
  const bytes = utf8Bytes(name);
  if (bytes.length > NAME_BYTES_MAX) throw new TlogError(`${name.slice(0, 40)}… is longer than 255 bytes`);
  return Uint8Array.of(bytes.length, ...bytes);
}
