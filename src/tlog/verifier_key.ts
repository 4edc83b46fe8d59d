import { fromBase64, toBase64, utf8Bytes } from './log_text.js';
import { sha256 } from './short_sha256.js';
import { isKeyName, readKeyId } from './signed_note.js';
import { TlogError } from './tlog_error.js';

/** The supported types of signatures: Ed25519 of the text, and cosignatures with a time by Ed25519 and by ML-DSA-44. */
export const KEY_TYPES = { signature: 0x01, cosignature: 0x04, mlDsa: 0x06 } as const;
export type KeyType = (typeof KEY_TYPES)[keyof typeof KEY_TYPES];

/** A public key with the name under which it signs. */
export interface VerifierKey {
  readonly name: string;
  readonly keyId: number;
  readonly type: KeyType;
  /** The public key: 32 bytes of Ed25519, or 1,312 bytes of ML-DSA-44. */
  readonly publicKey: Uint8Array;
}

const ED25519_BYTES = 32;
const ML_DSA_BYTES = 1_312;

/** Makes a key with this name. @throws TlogError for an invalid name */
export function verifierKey(name: string, type: KeyType, publicKey: Uint8Array): VerifierKey {
  if (!isKeyName(name)) throw new TlogError(`"${name}" is not the name of a key`);
  if (publicKey.length !== (type === KEY_TYPES.mlDsa ? ML_DSA_BYTES : ED25519_BYTES))
    throw new TlogError(`the key of ${name} has ${publicKey.length} bytes`);
  const keyId = readKeyId(sha256(Uint8Array.of(...utf8Bytes(`${name}\n`), type, ...publicKey)));
  return { name, keyId, type, publicKey };
}

/** Reads `<name>+<8 hex digits of the key ID>+<Base64 of type and key>`. @throws TlogError when the text has another form */
export function parseVerifierKey(text: string): VerifierKey {
  const [, name = '', id, base64 = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? [];
  const bytes = fromBase64(base64);
  if (!bytes?.length) throw new TlogError(`"${text.slice(0, 200)}" is not a verifier key`);
  const type = Object.values(KEY_TYPES).find((one) => one === bytes[0]);
  if (type === undefined)
    throw new TlogError(`the key of ${name} has type ${bytes[0]}, which is not supported here`);
  const key = verifierKey(name, type, bytes.subarray(1));
  if (idText(key) !== id) throw new TlogError(`the key ID of ${name} is ${idText(key)}, not ${id}`);
  return key;
}

/** Returns the text that {@link parseVerifierKey} reads. */
export function formatVerifierKey(key: VerifierKey): string {
  return `${key.name}+${idText(key)}+${toBase64(Uint8Array.of(key.type, ...key.publicKey))}`;
}

function idText({ keyId }: VerifierKey): string {
  return keyId.toString(16).padStart(8, '0');
}
