import type { Ed25519Key } from '../../tlog/ed25519_key.js';
import { formatNote } from '../../tlog/signed_note.js';
import { type Checkpoint, formatCheckpoint } from '../../tlog/tree_checkpoint.js';
import type { TreeHead } from '../../tlog/tree_proofs.js';
import { LedgerStopped } from './ledger.js';
import { beginsWith, readHead, writeHead } from './sealed_head.js';

export interface CheckpointSignerOptions {
  readonly publicFolder: string;
  readonly stateFolder: string;
  readonly origin: string;
  readonly key: Ed25519Key;
  /** Called with the size of each committed tree, after the tree is on disk. */
  readonly onSigned?: (size: bigint) => void;
}

/**
 * Signs the checkpoints of one log. Each signed tree must begin with the previously signed tree. A separate file stores the last signed
 * tree, and is on disk before the checkpoint exists.
 */
export class CheckpointSigner {
  readonly #options: CheckpointSignerOptions;
  #key: Ed25519Key;
  #last: Checkpoint | undefined;

  constructor(options: CheckpointSignerOptions) {
    this.#options = options;
    this.#key = options.key;
    this.#last = readHead(options.stateFolder, 'signed');
    if (this.#last !== undefined && this.#last.origin !== options.origin)
      throw new LedgerStopped(`this node signed checkpoints of ${this.#last.origin}, not ${options.origin}`);
  }

  /** The last tree that was signed. */
  get last(): TreeHead | undefined {
    return this.#last;
  }

  /** Signs with another key from now on. The trees that it may sign remain the same. */
  changeKey(key: Ed25519Key): void {
    this.#key = key;
  }

  /** Signs the checkpoint of a tree in the public files. @throws LedgerStopped when the signature would fork the log */
  async sign(head: TreeHead): Promise<string> {
    await this.commit(head);
    return this.#signedNote(head);
  }

  /** Signs the checkpoint of the last signed tree again. */
  signAgain(): string | undefined {
    return this.#last && this.#signedNote(this.#last);
  }

  #signedNote(head: TreeHead): string {
    const { origin } = this.#options;
    const text = formatCheckpoint({ origin, ...head });
    return formatNote({ text, signatures: [this.#key.sign(origin, text)] });
  }

  /**
   * Restricts later signatures to this tree and its continuations.
   * @throws LedgerStopped when the tree does not continue the last signed tree
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

  /** Checks that the tree is the last signed tree or continues it. @throws LedgerStopped otherwise */
  requireContinued(head: TreeHead): void {
    const last = this.#last;
    if (last === undefined || beginsWith(this.#options.publicFolder, head, last)) return;
    throw new LedgerStopped(
      `the log has ${head.size} batches that do not continue the ${last.size} batches of a signed checkpoint`,
    );
  }
}
