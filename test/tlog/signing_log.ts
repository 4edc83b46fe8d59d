import { formatNote } from '../../src/tlog/signed_note.js';
import { formatCheckpoint } from '../../src/tlog/tree_checkpoint.js';
import { consistencyProof, treeRoot } from '../../src/tlog/tree_nodes.js';
import { nodesOfEntries, numberedEntries } from './small_log.js';
import { LOG, LOG_ORIGIN } from './witnessed_log.js';

/** A log of numbered entries that signs a checkpoint of any of its sizes. */
export class SigningLog {
  readonly #entries: Uint8Array[];

  /** @param changed the index of an entry that differs from those of other logs */
  constructor(size: number, changed?: number) {
    this.#entries = numberedEntries(size);
    if (changed !== undefined) this.#entries[changed] = new TextEncoder().encode('another entry');
  }

  /** Returns the checkpoint of the first `size` entries, signed by the log. */
  note(size: number): string {
    const entries = this.#entries.slice(0, size);
    const root = treeRoot(BigInt(size), nodesOfEntries(entries));
    const text = formatCheckpoint({ origin: LOG_ORIGIN, size: BigInt(size), root });
    return formatNote({ text, signatures: [LOG.sign(LOG_ORIGIN, text)] });
  }

  readonly prove = (older: bigint, newer: bigint): Uint8Array[] =>
    consistencyProof(older, newer, nodesOfEntries(this.#entries.slice(0, Number(newer))));
}
