import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckpointSigner } from '../../publiclog/ledger/checkpoint_signer.js';
import { LedgerStopped } from '../../publiclog/ledger/ledger.js';
import { CHECKPOINT_FILE, writeDurably } from '../../publiclog/ledger/ledger_folder.js';
import { beginsWith } from '../../publiclog/ledger/sealed_head.js';
import type { Ed25519Key } from '../../tlog/ed25519_key.js';
import type { LogPolicy, Witness } from '../../tlog/log_policy.js';
import { isEqual } from '../../tlog/log_text.js';
import { parseNote } from '../../tlog/signed_note.js';
import { parseCheckpoint } from '../../tlog/tree_checkpoint.js';
import type { TreeHead } from '../../tlog/tree_proofs.js';
import type { Cosigned, WitnessFault, WitnessState, WitnessSubmitter } from '../../tlog/witness_submitter.js';

/** The witnesses of a log, and their quorum. */
export interface LogWitnesses {
  readonly policy: LogPolicy;
  /** Creates a submitter of checkpoints to the witnesses of the policy. It has received no answers yet. */
  readonly submitter: () => Submitter;
}

export interface CheckpointPublisherOptions extends LogWitnesses {
  readonly publicFolder: string;
  readonly signer: CheckpointSigner;
  /** The time after which a checkpoint is published without a quorum. */
  readonly graceMs: number;
  /** True if no checkpoint may be published without a quorum. */
  readonly requireQuorum: boolean;
  /** True when the folder is a copy. New trees then need the answers of a quorum, without a time limit. */
  readonly isCopy?: boolean;
  /** Called once, when new trees may be signed. Signing waits until the promise resolves. */
  readonly onConfirmed?: () => Promise<void>;
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly nowMs: () => number;
}

type Submitter = Pick<WitnessSubmitter, 'submit' | 'witnesses'>;

/**
 * The longest time for which the witnesses are asked about one checkpoint. After this time the next checkpoint replaces it without a
 * quorum.
 */
const ASKING_MS_MAX = 10_000;

/** An attempt to have a checkpoint cosigned. */
interface CosigningAttempt {
  readonly sinceMs: number;
  readonly abort: AbortController;
  readonly done: Promise<void>;
  isDone: boolean;
}

/** Signs checkpoints, asks the witnesses to cosign them, and publishes them. {@link offer} does not wait for witnesses. */
export class CheckpointPublisher {
  readonly #options: CheckpointPublisherOptions;
  #witnesses: LogWitnesses;
  #submitter: Submitter;
  #size: bigint | undefined;
  /** The newest checkpoint, with the cosignatures so far. */
  #newest: Cosigned | undefined;
  #published: string | undefined;
  #publishedSize: bigint;
  /** The time at which the first checkpoint since the last quorum was signed. */
  #lacksSinceMs: number | undefined;
  #submission: CosigningAttempt | undefined;
  /** True when {@link confirm} has succeeded since the last {@link begin}, so that new trees may be signed. */
  #isConfirmed = false;

  constructor(options: CheckpointPublisherOptions) {
    this.#options = options;
    this.#witnesses = options;
    this.#submitter = options.submitter();
    this.#publishedSize = publishedSizeIn(options.publicFolder);
  }

  /** Begins to sign, at a start or when this node begins to lead. Earlier answers of witnesses may be about another leader's tree. */
  begin(): void {
    this.#submission?.abort.abort();
    this.#submission = undefined;
    this.#submitter = this.#witnesses.submitter();
    this.#size = undefined;
    this.#newest = undefined;
    this.#lacksSinceMs = undefined;
    this.#isConfirmed = false;
  }

  /** Signs with another key, or asks other witnesses, from the next checkpoint. Must not be called while a checkpoint is being made. */
  change(key: Ed25519Key, witnesses: LogWitnesses): void {
    this.#options.signer.changeKey(key);
    this.#witnesses = witnesses;
    this.begin();
  }

  /**
   * Restricts signatures to a tree and its continuations.
   * @param sealed the tree in the public files
   * @throws LedgerStopped when the files have another tree, or when the tree does not continue the last signed tree
   */
  async commit(head: TreeHead, sealed: TreeHead): Promise<void> {
    const { signer } = this.#options;
    if (head.size <= (signer.last?.size ?? -1n)) return;
    const isOwn =
      head.size === sealed.size
        ? isEqual(head.root, sealed.root)
        : beginsWith(this.#options.publicFolder, sealed, head);
    if (!isOwn)
      throw new LedgerStopped(`the leader signs another tree of ${head.size} batches than this node has`);
    await signer.commit(head);
  }

  /** True when the next checkpoint may replace the newest published checkpoint. */
  get mayReplace(): boolean {
    const submission = this.#submission;
    if (submission === undefined || submission.isDone || this.#newest?.isQuorum === true) return true;
    return this.#options.nowMs() - submission.sinceMs >= ASKING_MS_MAX;
  }

  /** The newest checkpoint with its cosignatures so far, if it should be published now. */
  get due(): string | undefined {
    if (this.#newest === undefined || this.#newest.note === this.#published) return undefined;
    const isDue = this.#newest.isQuorum || (this.isGraceOver && !this.#options.requireQuorum);
    return isDue ? this.#newest.note : undefined;
  }

  /** True when no checkpoint had a quorum during the whole grace period. */
  get isGraceOver(): boolean {
    const { nowMs, graceMs } = this.#options;
    return this.#lacksSinceMs !== undefined && nowMs() - this.#lacksSinceMs >= graceMs;
  }

  /** The number of witnesses that cosigned the published checkpoint. */
  get cosigners(): number {
    return this.#published === undefined ? 0 : parseNote(this.#published).signatures.length - 1;
  }

  get witnesses(): readonly WitnessState[] {
    return this.#submitter.witnesses;
  }

  /**
   * Asks the witnesses, after a start, whether they know a larger tree than the last signed tree. If they do, this folder is outdated. The
   * question contains only a tree that was signed before, or the empty tree.
   * @returns false while the answers of a quorum are missing, for at most the grace period unless the folder is a copy
   * @throws LedgerStopped as {@link requireNoLoss}; for a log that has signed nothing yet, when any witness knows a tree
   */
  async confirm(): Promise<boolean> {
    if (this.#isConfirmed) return true;
    if (!this.#mayConfirm()) return false;
    await this.#options.onConfirmed?.();
    this.#isConfirmed = true;
    return true;
  }

  #mayConfirm(): boolean {
    const { signer, requireQuorum, isCopy = false, nowMs } = this.#options;
    const { policy } = this.#witnesses;
    const { witnesses } = this;
    const note = signer.signAgain();
    if (note === undefined || witnesses.length === 0) return true;
    const isFirst = signer.last?.size === 0n;
    const knowing = isFirst ? witnesses.flatMap(({ name, fault }) => objectionOf(name, fault)) : [];
    if (knowing.length > 0) throw lossOf(knowing.map(([, reason]) => reason));
    this.#lacksSinceMs ??= nowMs();
    if (this.#submission === undefined) this.#requestCosignatures(note, () => {});
    const answered = witnesses.filter(knowsNoMore).map(({ name }) => name);
    const isAnswered = answered.length > 0 && policy.isQuorum(new Set(answered));
    return isAnswered || (this.isGraceOver && !requireQuorum && !isCopy);
  }

  /**
   * Signs the checkpoint of a tree in the public files, and begins to ask the witnesses. Does nothing for a tree with a signed checkpoint.
   * @throws LedgerStopped when the signature would be a fork
   */
  async offer(head: TreeHead): Promise<void> {
    if (head.size === this.#size) return;
    this.requireNoLoss();
    const { signer, nowMs } = this.#options;
    const note = await signer.sign(head);
    await this.stopAsking();
    this.#size = head.size;
    this.#lacksSinceMs ??= nowMs();
    this.#noteCosigned({ note, isQuorum: this.#witnesses.policy.isQuorum(new Set()) });
    this.#requestCosignatures(note, (cosigned) => this.#noteCosigned(cosigned));
  }

  /**
   * Publishes a checkpoint of this node or of the leading node, if the public files have its tree. Resolves when it is on disk.
   * @returns false for a checkpoint that is older than the published checkpoint or newer than the files
   */
  async show(note: string, sealed: TreeHead): Promise<boolean> {
    const { size } = parseCheckpoint(parseNote(note).text);
    if (size < this.#publishedSize || size > sealed.size) return false;
    await writeDurably(this.#options.publicFolder, [{ path: CHECKPOINT_FILE, bytes: Buffer.from(note) }]);
    this.#published = note;
    this.#publishedSize = size;
    return true;
  }

  /** Resolves when no request to a witness is in progress. */
  async stopAsking(): Promise<void> {
    this.#submission?.abort.abort();
    await this.#submission?.done;
  }

  /**
   * Compares the log with the answers of the witnesses. If some witnesses know a different tree, the others may be too few for a quorum.
   * @throws LedgerStopped when the log lacks batches that these witnesses have seen
   */
  requireNoLoss(): void {
    const { policy } = this.#witnesses;
    const { witnesses } = this;
    const against = new Map(witnesses.flatMap(({ name, fault }) => objectionOf(name, fault)));
    if (against.size === 0) return;
    const others = policy.witnesses.filter(({ name }) => !against.has(name));
    if (against.size < witnesses.length && policy.isQuorum(new Set(others.map(({ name }) => name)))) return;
    throw lossOf([...against.values()]);
  }

  #requestCosignatures(note: string, onCosigned: (cosigned: Cosigned) => void): void {
    const abort = new AbortController();
    const { nowMs } = this.#options;
    const asking = this.#submitter.submit(note, abort.signal, onCosigned);
    const done = asking.then(
      () => {
        submission.isDone = true;
      },
      () => {
        submission.isDone = true;
      },
    );
    const submission: CosigningAttempt = { sinceMs: nowMs(), abort, done, isDone: false };
    this.#submission = submission;
  }

  #noteCosigned(cosigned: Cosigned): void {
    this.#newest = cosigned;
    if (cosigned.isQuorum) this.#lacksSinceMs = undefined;
  }
}

/** Returns the size of the published checkpoint; -1 without a readable checkpoint. */
function publishedSizeIn(publicFolder: string): bigint {
  try {
    return parseCheckpoint(parseNote(readFileSync(join(publicFolder, CHECKPOINT_FILE))).text).size;
  } catch {
    return -1n;
  }
}

/** Returns whether a witness has answered that it knows no larger tree, or that it does not know the log. */
function knowsNoMore({ size, fault }: WitnessState): boolean {
  return fault === undefined ? size !== undefined : fault.kind === 'refused' && fault.status === 404;
}

function lossOf(reasons: readonly string[]): LedgerStopped {
  return new LedgerStopped(`${reasons.join('; ')}: the log has lost batches that were cosigned`);
}

function objectionOf(
  name: Witness['name'],
  fault: WitnessFault | undefined,
): [name: string, reason: string][] {
  if (fault?.kind === 'larger') return [[name, `the witness ${name} has cosigned ${fault.size} batches`]];
  if (fault?.kind === 'forked') return [[name, `the witness ${name} has cosigned another tree`]];
  return [];
}
