import { linesOf, readDecimal, readText, toBase64 } from './log_text.js';
import { NOTE_BYTES_MAX } from './signed_note.js';
import { TlogError } from './tlog_error.js';
import { readHash } from './tree_hash.js';

// The request with which a log asks a witness for a cosignature: C2SP tlog-witness.

/** The request `add-checkpoint`. */
export interface AddCheckpoint {
  /** The size of the last tree that the witness cosigned, as the log knows it; 0 if there is no such tree. */
  readonly older: bigint;
  /** The proof that the tree of the checkpoint begins with the older tree; empty when `older` is 0. */
  readonly proof: readonly Uint8Array[];
  /** The checkpoint with the log's signature. */
  readonly note: string;
}

/** The path under a witness's submission prefix. */
export const ADD_CHECKPOINT_PATH = '/add-checkpoint';
/** The content type of a 409 answer that contains the size of the witness's last cosigned tree. */
export const SIZE_CONTENT_TYPE = 'text/x.tlog.size';
/** The largest number of hashes in a request. */
export const WITNESS_HASHES_MAX = 63;
/** The largest number of bytes of a request: a note of the largest size, the older size, and the hashes. */
export const ADD_CHECKPOINT_BYTES_MAX = NOTE_BYTES_MAX + 4 * 1024;

/** Reads the body of a request. @throws TlogError when the body is malformed */
export function parseAddCheckpoint(body: string | Uint8Array): AddCheckpoint {
  const text = readText(body, ADD_CHECKPOINT_BYTES_MAX, 'the request');
  const end = text.indexOf('\n\n');
  if (end < 0) throw new TlogError('the request has no checkpoint after an empty line');
  const [first = '', ...hashes] = text.slice(0, end).split('\n');
  const older = first.startsWith('old ') ? readDecimal(first.slice('old '.length)) : undefined;
  if (older === undefined) throw new TlogError('the first line of the request is not "old" and a size');
  if (hashes.length > WITNESS_HASHES_MAX)
    throw new TlogError(`the request has more than ${WITNESS_HASHES_MAX} hashes`);
  const proof = hashes.map((line, i) => readHash(line, `hash ${i} of the request`));
  return { older, proof, note: text.slice(end + 2) };
}

/** Returns the body that {@link parseAddCheckpoint} reads. */
export function formatAddCheckpoint({ older, proof, note }: AddCheckpoint): string {
  return `old ${older}\n${proof.map((hash) => `${toBase64(hash)}\n`).join('')}\n${note}`;
}

/** Reads the body of an answer with status 409; `undefined` when the body contains no size. */
export function readConflict(body: Uint8Array): bigint | undefined {
  try {
    const [line = '', ...more] = linesOf(readText(body, 32, 'the answer'), 'the answer');
    return more.length === 0 ? readDecimal(line) : undefined;
  } catch {
    return undefined;
  }
}
