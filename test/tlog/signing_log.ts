import { formatNote } from '../../src/tlog/signed_note.js';
import { formatCheckpoint } from '../../src/tlog/tree_checkpoint.js';
import { consistencyProof, type NodeReader, treeRoot } from '../../src/tlog/tree_nodes.js';
import { nodesOfEntries, numberedEntries } from './small_log.js';
import { LOG, LOG_ORIGIN } from './witnessed_log.js';

/** A log of numbered entries that signs a checkpoint of any of its sizes. */
export class SigningLog {
  readonly #read: NodeReader;

  /** @param changed the index of an entry that differs from the other logs */
  constructor(size: number, changed?: number) {
    const entries = numberedEntries(size);
    if (changed !== undefined) entries[changed] = new TextEncoder().encode('another entry');
    // A larger tree contains the nodes of all smaller trees, because the store keeps only complete subtrees.
    this.#read = nodesOfEntries(entries);
  }

  /** Returns the checkpoint of the first `size` entries, signed by the log. */
  note(size: number): string {
    const root = treeRoot(BigInt(size), this.#read);
    const text = formatCheckpoint({ origin: LOG_ORIGIN, size: BigInt(size), root });
    return formatNote({ text, signatures: [LOG.sign(LOG_ORIGIN, text)] });
  }

  readonly prove = (older: bigint, newer: bigint): Uint8Array[] => consistencyProof(older, newer, this.#read);
}
