import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Evidence, formatEvidence } from '../../client/verify/evidence_file.js';
import type { TreePeak } from '../../tlog/compact_tree.js';
import { fromBase64, toBase64 } from '../../tlog/log_text.js';
import { HASH_BYTES } from '../../tlog/tree_hash.js';
import { replaceFile } from './replaced_file.js';

/** The progress of an audit. */
export interface AuditState {
  /** The checkpoint of all checked entries. */
  readonly note: string;
  /** The newest entry. */
  readonly lastEntry: string | undefined;
  /** The largest full subtrees in the tree of the checked entries. */
  readonly peaks: readonly TreePeak[];
}

/** The state in the form of the file: hashes in Base64. */
interface KeptState extends Omit<AuditState, 'peaks'> {
  readonly peaks: readonly { readonly level: number; readonly hash: string }[];
}

const STATE_FILE = 'audit.json';

/** The folder of an audit, with the audit's state and its evidence. */
export class AuditFolder {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Reads the state; `undefined` before the first write. @throws Error when the file is damaged */
  async read(): Promise<AuditState | undefined> {
    const file = join(this.#dir, STATE_FILE);
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (text === undefined) return undefined;
    try {
      const { note, lastEntry, peaks } = JSON.parse(text) as KeptState;
      const read = peaks.map(({ level, hash }): TreePeak => {
        const bytes = fromBase64(hash);
        if (bytes?.length !== HASH_BYTES || !Number.isInteger(level))
          throw new TypeError('a peak is no hash');
        return { level, hash: bytes };
      });
      if (typeof note !== 'string') throw new TypeError('it has no checkpoint');
      return { note, lastEntry, peaks: read };
    } catch (error) {
      throw new Error(`${file} is damaged: ${(error as Error).message}`, { cause: error });
    }
  }

  async write({ note, lastEntry, peaks }: AuditState): Promise<void> {
    const text = JSON.stringify({
      note,
      lastEntry,
      peaks: peaks.map(({ level, hash }) => ({ level, hash: toBase64(hash) })),
    });
    await replaceFile(join(this.#dir, STATE_FILE), `${text}\n`);
  }

  /** Writes an evidence file. @returns its path */
  async writeEvidence(evidence: Evidence, timeMs: number): Promise<string> {
    const time = new Date(timeMs).toISOString().replace(/[:.]/g, '-');
    const file = join(this.#dir, `evidence-${evidence.kind.replaceAll(' ', '-')}-${time}.json`);
    await replaceFile(file, formatEvidence(evidence));
    return file;
  }
}
