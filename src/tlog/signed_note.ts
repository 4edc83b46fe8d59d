import { fromBase64, readText, toBase64 } from './log_text.js';
import { TlogError } from './tlog_error.js';

// Texts with signatures: C2SP signed-note.

/** A signature line. */
export interface NoteSignature {
  readonly name: string;
  /** The key ID: the first 4 bytes of the line's Base64, big-endian. */
  readonly keyId: number;
  /** The bytes after the key ID. */
  readonly blob: Uint8Array;
}

/** A text and its unverified signatures. */
export interface SignedNote {
  /** The text with its final newline. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** The largest number of bytes. The lines of 100 ML-DSA-44 cosignatures take 330 kB. */
export const NOTE_BYTES_MAX = 512 * 1024;
/** The largest number of signature lines. */
export const NOTE_SIGNATURES_MAX = 100;
const KEY_ID_BYTES = 4;
const LINE_START = '— ';

/** Reads a note. @throws TlogError when the note is malformed */
export function parseNote(input: string | Uint8Array): SignedNote {
  const note = readText(input, NOTE_BYTES_MAX, 'the note');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the format forbids these characters
  if (/[\0-\x09\x0b-\x1f]/.test(note)) throw new TlogError('the note has control characters');
  const end = note.lastIndexOf('\n\n');
  if (end < 0 || !note.endsWith('\n') || end + 2 === note.length)
    throw new TlogError('the note does not end with signature lines after an empty line');
  return { text: note.slice(0, end + 1), signatures: parseSignatureLines(note.slice(end + 2)) };
}

/** Reads signature lines, such as the lines in a witness's answer. @throws TlogError for malformed lines */
export function parseSignatureLines(text: string): NoteSignature[] {
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new TlogError('the note has a malformed signature line');
  if (lines.length > NOTE_SIGNATURES_MAX)
    throw new TlogError(`the note has more than ${NOTE_SIGNATURES_MAX} signatures`);
  return lines.map((line) => {
    const [name = '', base64 = '', ...rest] = line.slice(LINE_START.length).split(' ');
    const bytes = fromBase64(base64);
    const isRead = line.startsWith(LINE_START) && rest.length === 0 && isKeyName(name);
    if (!isRead || bytes === undefined || bytes.length <= KEY_ID_BYTES)
      throw new TlogError('the note has a malformed signature line');
    return { name, keyId: readKeyId(bytes), blob: bytes.subarray(KEY_ID_BYTES) };
  });
}

/** Returns the note: the text, an empty line, and the signature lines. */
export function formatNote({ text, signatures }: SignedNote): string {
  return `${text}\n${signatures.map(signatureLine).join('')}`;
}

/** Returns a signature line with its newline. */
export function signatureLine({ name, keyId, blob }: NoteSignature): string {
  const bytes = new Uint8Array(KEY_ID_BYTES + blob.length);
  new DataView(bytes.buffer).setUint32(0, keyId);
  bytes.set(blob, KEY_ID_BYTES);
  return `${LINE_START}${name} ${toBase64(bytes)}\n`;
}

/** Returns whether a key may have this name. */
export function isKeyName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the format forbids these characters
  return /^[^\p{White_Space}+\0-\x1f]+$/u.test(name);
}

/** Returns the first 4 bytes as a big-endian number. */
export function readKeyId(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(0);
}
