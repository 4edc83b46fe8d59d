import type { AddCheckpoint } from './add_checkpoint.js';
import type { VerifyEd25519 } from './ed25519.js';
import { isEqual } from './log_text.js';
import { verifySignatures } from './note_keys.js';
import { parseNote, type SignedNote } from './signed_note.js';
import { TlogError } from './tlog_error.js';
import { type Checkpoint, parseCheckpoint } from './tree_checkpoint.js';
import { emptyRoot } from './tree_hash.js';
import { isConsistent, type TreeHead } from './tree_proofs.js';
import type { VerifierKey } from './verifier_key.js';

// The decision of a witness: C2SP tlog-witness. The order of the checks follows the table of answers in that document.

/** A checkpoint that one of the log's keys has signed. */
export interface SubmittedCheckpoint {
  readonly signed: SignedNote;
  readonly checkpoint: Checkpoint;
}

/** The refusal of a request. */
export interface WitnessRefusal {
  readonly status: 400 | 403 | 404 | 409 | 422;
  readonly reason: string;
  /** The size that the witness cosigned last, in an answer with status 409. */
  readonly size?: bigint;
}

/**
 * Reads the checkpoint of a request. Requires a signature by one of the keys that the witness knows for the origin.
 * @param keysOf returns the keys of a log; `undefined` for an unknown origin
 */
export async function openSubmitted(
  { note }: AddCheckpoint,
  keysOf: (origin: string) => readonly VerifierKey[] | undefined,
  verify: VerifyEd25519,
): Promise<SubmittedCheckpoint | WitnessRefusal> {
  const signed = readOr(400, () => parseNote(note));
  if ('status' in signed) return signed;
  const origin = signed.text.slice(0, signed.text.indexOf('\n'));
  const keys = keysOf(origin);
  if (keys === undefined)
    return { status: 404, reason: `the origin ${JSON.stringify(origin.slice(0, 200))} is not known` };
  try {
    const verified = await verifySignatures(signed, keys, verify);
    if (verified.length === 0)
      return { status: 403, reason: `no key of ${origin} has signed the checkpoint` };
  } catch (error) {
    if (error instanceof TlogError) return { status: 403, reason: error.message };
    throw error;
  }
  const checkpoint = readOr(isEmptyTree(signed.text) ? 422 : 400, () => parseCheckpoint(signed.text));
  return 'status' in checkpoint ? checkpoint : { signed, checkpoint };
}

/**
 * Decides on a checkpoint.
 * @param latest the witness's last cosigned tree of this origin; `undefined` without such a tree
 * @returns the refusal, or `undefined` when the witness may cosign
 */
export function refusalOf(
  { older, proof }: AddCheckpoint,
  { size, root }: TreeHead,
  latest: TreeHead | undefined,
): WitnessRefusal | undefined {
  if (older > size) return { status: 400, reason: `the old size ${older} is above the size ${size}` };
  const known = latest ?? { size: 0n, root: emptyRoot() };
  if (older !== known.size)
    return {
      status: 409,
      reason: `the tree that was cosigned last has size ${known.size}`,
      size: known.size,
    };
  if (isConsistent(known, { size, root }, proof)) return undefined;
  const isSame = older === size && proof.length === 0 && !isEqual(root, known.root);
  const reason = isSame
    ? `another tree of size ${size} was cosigned`
    : `the proof does not show that the tree begins with the tree of size ${older}`;
  return { status: 422, reason };
}

/** Returns whether the text contains the size 0 and a root. Such a text is well-formed, but its root is wrong. */
function isEmptyTree(text: string): boolean {
  return /^[^\n]+\n0\n[A-Za-z0-9+/]{43}=\n/.test(text);
}

function readOr<T>(status: 400 | 422, read: () => T): T | WitnessRefusal {
  try {
    return read();
  } catch (error) {
    if (error instanceof TlogError) return { status, reason: error.message };
    throw error;
  }
}
