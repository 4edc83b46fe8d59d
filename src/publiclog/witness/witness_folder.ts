import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { verifyByNode } from '../../tlog/ed25519_key.js';
import { verifySignatures } from '../../tlog/note_keys.js';
import { NOTE_BYTES_MAX, parseNote } from '../../tlog/signed_note.js';
import { type Checkpoint, parseCheckpoint } from '../../tlog/tree_checkpoint.js';
import type { VerifierKey } from '../../tlog/verifier_key.js';
import { replaceFile } from './replaced_file.js';

/** A checkpoint that the witness has cosigned. */
export interface KeptCheckpoint {
  readonly note: string;
  readonly checkpoint: Checkpoint;
  /** The time of the cosignature, in UNIX seconds. */
  readonly timeS: number;
}

/** The largest number of logs with a stored checkpoint, including logs that are no longer in the configuration. */
export const KEPT_LOGS_MAX = 100_000;
const FILE_NAME = /^[0-9a-f]{64}\.checkpoint$/;

/** Returns the name of a log in paths: the SHA-256 of its origin in hex. */
export function originHash(origin: string): string {
  return createHash('sha256').update(origin).digest('hex');
}

/** The folder in which a witness stores the newest checkpoint of each log, in one file for each log. */
export class WitnessFolder {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /**
   * Reads all checkpoints, by origin.
   * @param own the key of the witness, which cosigned them
   * @throws Error that names a damaged file. Without this file the witness could cosign a different tree
   */
  async read(own: VerifierKey): Promise<Map<string, KeptCheckpoint>> {
    const names = (await readdir(this.#dir)).filter((name) => FILE_NAME.test(name));
    if (names.length > KEPT_LOGS_MAX)
      throw new Error(`${this.#dir} has more than ${KEPT_LOGS_MAX} checkpoints`);
    const kept = new Map<string, KeptCheckpoint>();
    for (const name of names) {
      const file = join(this.#dir, name);
      const one = await readKept(file, own);
      if (name !== fileName(one.checkpoint.origin))
        throw new Error(`${file} is damaged: it has the checkpoint of ${one.checkpoint.origin}`);
      kept.set(one.checkpoint.origin, one);
    }
    return kept;
  }

  /** Replaces the checkpoint of a log. Resolves when the checkpoint is on disk. */
  async write(origin: string, note: string): Promise<void> {
    await replaceFile(join(this.#dir, fileName(origin)), note);
  }
}

function fileName(origin: string): string {
  return `${originHash(origin)}.checkpoint`;
}

async function readKept(file: string, own: VerifierKey): Promise<KeptCheckpoint> {
  try {
    const bytes = await readFile(file);
    if (bytes.length > NOTE_BYTES_MAX) throw new Error(`it has more than ${NOTE_BYTES_MAX} bytes`);
    const signed = parseNote(bytes);
    // A former key of the witness may have cosigned the checkpoint. Then no line is verified.
    await verifySignatures(signed, [own], verifyByNode);
    const { mtimeMs } = await stat(file);
    return {
      note: bytes.toString(),
      checkpoint: parseCheckpoint(signed.text),
      timeS: Math.floor(mtimeMs / 1_000),
    };
  } catch (error) {
    throw new Error(`${file} is damaged: ${(error as Error).message}`, { cause: error });
  }
}
