import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { PublicLogFacts } from '../../model/node_list.js';
import { Ledger, LedgerStopped } from '../../publiclog/ledger/ledger.js';
import { CHECKPOINT_FILE, writeDurably } from '../../publiclog/ledger/ledger_folder.js';
import { verifyByNode } from '../../tlog/ed25519_key.js';
import { parsePolicy } from '../../tlog/log_policy.js';
import { isEqual } from '../../tlog/log_text.js';
import { openCheckpoint } from '../../tlog/open_checkpoint.js';
import { TlogError } from '../../tlog/tlog_error.js';
import type { Checkpoint } from '../../tlog/tree_checkpoint.js';
import type { PublicLogKind } from '../log/log_batch.js';
import { catchUp, type OtherLogFiles } from './other_log_files.js';
import type { OpenLog } from './public_log.js';
import type { PublicLogFigures } from './public_log_options.js';

export interface LogMirrorOptions {
  readonly publicFolder: string;
  readonly stateFolder: string;
  readonly recordsRetentionNs: bigint;
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly nowMs: () => number;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** The delay after a failed copy. */
const RETRY_MS = 2_000;
/** The time after which a failure is reported as a problem of the node. */
const TROUBLE_MS = 30_000;
/** The interval at which the facts of the log are read again. */
const FACTS_MS = 60_000;

/**
 * A copy of the public log for a node that never signs it. For each checkpoint in the log of prices, the mirror copies the new batches from
 * an aggregator and compares their tree with the checkpoint. Then it shows the checkpoint, so readers see only complete trees.
 */
export class LogMirror implements OpenLog {
  readonly endNs = 0n;
  readonly #options: LogMirrorOptions;
  #others: OtherLogFiles | undefined;
  #facts: PublicLogFacts | undefined;
  #factsAtMs = Number.NEGATIVE_INFINITY;
  #ledger: Ledger | undefined;
  /** The newest checkpoint that is not yet shown. */
  #wanted: string | undefined;
  #copying: Promise<void> | undefined;
  #retryMs = 0;
  #shown: { readonly atMs: number; readonly witnesses: number } | undefined;
  #failure: { readonly reason: string; readonly sinceMs: number } | undefined;
  #isClosed = false;

  constructor(options: LogMirrorOptions) {
    this.#options = options;
  }

  get facts(): PublicLogFacts | undefined {
    return this.#facts;
  }

  record(): void {}

  add(): void {}

  changeKey(): void {}

  lead(): void {}

  joinOthers(files: OtherLogFiles): void {
    this.#others = files;
  }

  follow(kind: PublicLogKind, bytes: Uint8Array): void {
    if (kind === 'checkpoint') this.#wanted = Buffer.from(bytes).toString();
  }

  tick(): void {
    const nowMs = this.#options.nowMs();
    const isDue = this.#wanted !== undefined || nowMs >= this.#factsAtMs + FACTS_MS;
    if (!isDue || nowMs < this.#retryMs || this.#copying !== undefined || this.#isClosed) return;
    this.#copying = this.#copyCheckpoint().finally(() => {
      this.#copying = undefined;
    });
  }

  /** Returns the reason why readers have received no new checkpoint for some time. Prices do not depend on the copy. */
  troubles(): readonly string[] {
    const failure = this.#failure;
    return failure !== undefined && this.#options.nowMs() >= failure.sinceMs + TROUBLE_MS
      ? [failure.reason]
      : [];
  }

  figures(): PublicLogFigures {
    return {
      size: this.#ledger?.sealed.size ?? 0n,
      checkpointAgeMs: this.#shown && this.#options.nowMs() - this.#shown.atMs,
      witnesses: this.#shown?.witnesses ?? 0,
      hasQuorum: true,
      isStopped: false,
    };
  }

  async write(): Promise<void> {}

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#copying;
    const ledger = this.#ledger;
    this.#ledger = undefined;
    await ledger?.close();
  }

  async #copyCheckpoint(): Promise<void> {
    const { nowMs, logger } = this.#options;
    const note = this.#wanted;
    try {
      await this.#readFacts();
      if (note !== undefined && this.#facts !== undefined) await this.#showCheckpoint(note, this.#facts);
      if (this.#failure !== undefined) logger.info('the copy of the public log goes on');
      this.#failure = undefined;
      if (this.#wanted === note) this.#wanted = undefined;
    } catch (error) {
      this.#retryMs = nowMs() + RETRY_MS;
      // Without a checkpoint, the cluster may have no public log.
      if (note === undefined) return;
      const reason = `the copy of the public log waits: ${(error as Error).message}`;
      if (this.#failure === undefined) logger.warn(reason);
      this.#failure = { reason, sinceMs: this.#failure?.sinceMs ?? nowMs() };
    }
  }

  async #readFacts(): Promise<void> {
    const { nowMs } = this.#options;
    if (this.#others === undefined || nowMs() < this.#factsAtMs + FACTS_MS) return;
    this.#facts = await this.#others.facts();
    this.#factsAtMs = nowMs();
  }

  /** Copies the batches of a checkpoint, and shows the checkpoint. @throws Error when the copy differs from the checkpoint */
  async #showCheckpoint(note: string, { policy }: PublicLogFacts): Promise<void> {
    const { publicFolder, nowMs } = this.#options;
    const { checkpoint, cosigners } = await openCheckpoint(note, parsePolicy(policy), verifyByNode);
    const ledger = await this.#open(checkpoint);
    // Continues a copy that ended between its last batch and the public files, for example because the process was killed.
    await ledger.seal();
    if (checkpoint.size < ledger.sealed.size) return;
    await catchUp(ledger, checkpoint.size, { read: (path) => this.#readFile(path) });
    if (!isEqual(ledger.sealed.root, checkpoint.root)) {
      await this.#discard();
      throw new Error(`the copied batches do not give the root of the checkpoint of ${checkpoint.size}`);
    }
    await writeDurably(publicFolder, [{ path: CHECKPOINT_FILE, bytes: Buffer.from(note) }]);
    this.#shown = { atMs: nowMs(), witnesses: cosigners.size };
  }

  /** @throws Error when the node ends, so that its end does not wait for a long copy */
  async #readFile(path: string): Promise<Uint8Array | undefined> {
    if (this.#isClosed) throw new Error('this node ends');
    return this.#others!.read(path);
  }

  async #open({ origin }: Checkpoint): Promise<Ledger> {
    if (this.#ledger !== undefined && this.#ledger.origin !== origin) await this.#discard();
    // Records of a batch that has expired on all nodes are missing here too.
    try {
      this.#ledger ??= await Ledger.open({ ...this.#options, origin, onMismatch: () => {} });
      return this.#ledger;
    } catch (error) {
      // The folder is damaged, or has another log.
      if (error instanceof LedgerStopped || error instanceof TlogError) await this.#discard();
      throw error;
    }
  }

  /** Removes the copy, so that the next copy starts from the beginning. Keeps a folder that has signed a tree, because it is not a copy. */
  async #discard(): Promise<void> {
    const { publicFolder, stateFolder } = this.#options;
    await this.#ledger?.close();
    this.#ledger = undefined;
    if (existsSync(join(stateFolder, 'signed'))) return;
    for (const folder of [publicFolder, stateFolder]) await rm(folder, { recursive: true, force: true });
  }
}
