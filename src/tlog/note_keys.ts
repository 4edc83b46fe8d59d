import type { VerifyEd25519 } from './ed25519.js';
import { utf8Bytes } from './log_text.js';
import type { NoteSignature, SignedNote } from './signed_note.js';
import { TlogError } from './tlog_error.js';
import { KEY_TYPES, type VerifierKey } from './verifier_key.js';

// Signatures and cosignatures by keys that the reader knows: C2SP signed-note and tlog-cosignature.

/** A signature that was verified. */
export interface VerifiedSignature {
  readonly key: VerifierKey;
  /** The time at which a witness cosigned, in UNIX seconds; absent in a signature of type 0x01. */
  readonly timeS?: bigint;
}

const SIGNATURE_BYTES = 64;
const TIME_BYTES = 8;

/**
 * Verifies the lines of all known keys. Skips the lines of other keys, and of keys whose type `verify` does not support.
 * @returns the signatures in the order of their lines
 * @throws TlogError when the signature of a known key is invalid
 */
export async function verifySignatures(
  { text, signatures }: SignedNote,
  keys: readonly VerifierKey[],
  verify: VerifyEd25519,
): Promise<VerifiedSignature[]> {
  const verified: VerifiedSignature[] = [];
  for (const line of signatures) {
    const key = keys.find(({ name, keyId }) => name === line.name && keyId === line.keyId);
    if (key?.type === KEY_TYPES.mlDsa) {
      const timeS = await verify.mlDsa44?.(key, text, line.blob);
      if (timeS !== undefined) verified.push({ key, timeS });
    } else if (key !== undefined) verified.push(await verifyLine(text, line, key, verify));
  }
  return verified;
}

/** Returns the bytes that a witness signs for a checkpoint at a time. */
export function cosignedBytes(text: string, timeS: bigint): Uint8Array {
  return utf8Bytes(`cosignature/v1\ntime ${timeS}\n${text}`);
}

/** Returns the blob of a cosignature's line: the time and the signature. */
export function cosignatureBlob(timeS: bigint, signature: Uint8Array): Uint8Array {
  const blob = new Uint8Array(TIME_BYTES + signature.length);
  new DataView(blob.buffer).setBigUint64(0, timeS);
  blob.set(signature, TIME_BYTES);
  return blob;
}

async function verifyLine(
  text: string,
  { blob, name }: NoteSignature,
  key: VerifierKey,
  verify: VerifyEd25519,
): Promise<VerifiedSignature> {
  const isCosignature = key.type === KEY_TYPES.cosignature;
  const start = isCosignature ? TIME_BYTES : 0;
  if (blob.length === start + SIGNATURE_BYTES) {
    const timeS = isCosignature ? new DataView(blob.buffer, blob.byteOffset).getBigUint64(0) : undefined;
    const message = timeS === undefined ? utf8Bytes(text) : cosignedBytes(text, timeS);
    if (await verify(key.publicKey, message, blob.subarray(start)))
      return timeS === undefined ? { key } : { key, timeS };
  }
  throw new TlogError(`the signature of ${name} does not verify`);
}
