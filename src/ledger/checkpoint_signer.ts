import type { Ed25519Key } from '../tlog/ed25519_key.js';
import { formatNote } from '../tlog/signed_note.js';
import { type Checkpoint, formatCheckpoint } from '../tlog/tree_checkpoint.js';
import type { TreeHead } from '../tlog/tree_proofs.js';
import { LedgerStopped } from './ledger.js';
import { beginsWith, readHead, writeHead } from './sealed_head.js';

export interface CheckpointSignerOptions {
  readonly publicFolder: string;
  readonly stateFolder: string;
  readonly origin: string;
  readonly key: Ed25519Key;
  /** Called with the size of each tree that may be signed from now on, after it is on disk. */
  readonly onSigned?: (size: bigint) => void;
}

/**
 * Signs checkpoints of one log. The signer never signs a tree that does not begin with the last signed tree. The last signed tree has a
 * separate file, which is on disk before the checkpoint exists.
 */
export class CheckpointSigner {
  readonly #options: CheckpointSignerOptions;
  #last: Checkpoint | undefined;

  constructor(options: CheckpointSignerOptions) {
    this.#options = options;
    this.#last = readHead(options.stateFolder, 'signed');
    if (this.#last !== undefined && this.#last.origin !== options.origin)
      throw new LedgerStopped(`this node signed checkpoints of ${this.#last.origin}, not ${options.origin}`);
  }

  /** The last tree that was signed. */
  get last(): TreeHead | undefined {
    return this.#last;
  }

  /** Returns the checkpoint of a tree in the public files, signed by the log. @throws LedgerStopped instead of signing a fork */
  async sign(head: TreeHead): Promise<string> {
    await this.commit(head);
    return this.#signed(head);
  }

  /** Returns the checkpoint of the last signed tree, signed again. */
  signAgain(): string | undefined {
    return this.#last && this.#signed(this.#last);
  }

  #signed(head: TreeHead): string {
    const { origin, key } = this.#options;
    const text = formatCheckpoint({ origin, ...head });
    return formatNote({ text, signatures: [key.sign(origin, text)] });
  }

  /**
   * Restricts later signatures to this tree and its continuations. @throws LedgerStopped when the tree does not continue the last
   * signed tree
   */
  async commit(head: TreeHead): Promise<void> {
    const { stateFolder, origin, onSigned } = this.#options;
    this.requireContinued(head);
    if (this.#last?.size === head.size) return;
    const next = { origin, ...head, extensions: [] };
    await writeHead(stateFolder, 'signed', next);
    this.#last = next;
    onSigned?.(head.size);
  }

  /** @throws LedgerStopped when the tree is not the last signed one or its continuation */
  requireContinued(head: TreeHead): void {
    const last = this.#last;
    if (last === undefined || beginsWith(this.#options.publicFolder, head, last)) return;
    throw new LedgerStopped(
      `the log has ${head.size} batches that do not continue the ${last.size} batches of a signed checkpoint`,
    );
  }
}
